// The door of the API: who is it, may he, and has this request been here before. Every request passes, in this order:
// admit() → (the body is read) → permit() → for what changes something: use_once().
//
// Open: as long as no access key was made and only this host can reach the listener, everyone may do everything, signed
// or not, except for access keys themselves, which take a verified signature always. Safe from any thread.
#pragma once

#include "access/key_ring.h"
#include "access/permission.h"
#include "access/refusal.h"
#include "access/replays.h"

namespace espalier::access {

struct Identity {
  AccessKey key;          // without id: nobody in particular, of this host
  bool verified = false;  // by signature
  std::string region;     // of the signature's scope; "" → none was given
  std::string signature;
  Time signed_at{}, good_until{};  // of this signature
};

class Gate {
 public:
  // `loopback`: only this host reaches the listener. All must outlive it.
  Gate(KeyRing& keys, const Clock& clock, bool loopback)
      : keys_(keys), clock_(clock), loopback_(loopback), began_(clock.now()) {}

  [[nodiscard]] bool open() const { return loopback_ && keys_.empty(); }
  [[nodiscard]] KeyRing& keys() const { return keys_; }

  Checked<Identity> admit(const http::Request& request);
  Checked<void> permit(const Identity& who, const Act& act) const;
  // kMismatch: carried out before, or signed before this process began, which does not know what was carried out then.
  // Reads are not asked.
  Checked<void> use_once(const Identity& who);
  // After an answer that invites to try again.
  void not_carried_out(const Identity& who) { replays_.forget(who.signature); }

 private:
  Checked<Identity> admit_claim(const http::Request& request, const Claim& claim, const OpenKey& known);

  KeyRing& keys_;
  const Clock& clock_;
  const bool loopback_;
  const Time began_;
  Replays replays_;
};

}  // namespace espalier::access
