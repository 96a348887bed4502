// The access keys, ready for use: those of the store, opened, and the host's own.
//
// Every request asks for one, so they are held in memory; the store has the sealed ones and is asked at the start and
// told of every change. Secrets leave only by create() and rotate(), once. Safe from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "access/sigv4.h"
#include "access/token_bucket.h"
#include "access/vault.h"
#include "base/clock.h"
#include "model/access_key.h"
#include "store/store.h"

namespace espalier::access {

inline constexpr std::size_t kMostKeys = 1000;
// Every key id of ours begins with it: the command line leaves keys of others alone.
inline constexpr std::string_view kKeyPrefix = "ESP";

struct KeyWish {
  std::string name;
  Role role = Role::ReadOnly;
  std::vector<std::string> clusters{};  // names; empty: all
  std::optional<Millis> lifetime{};     // a temporary key, with a session token
};

struct OpenKey {
  AccessKey key;
  Credentials credentials;
};

class KeyRing {
 public:
  // `store` and `clock` must outlive it. kPermission: a key does not open with this vault.
  static Result<std::unique_ptr<KeyRing>> open(store::Store& store, Vault vault, const Clock& clock, Rate rate);

  // No key was made: the host's own does not count.
  [[nodiscard]] bool empty();
  [[nodiscard]] std::vector<AccessKey> list();
  Result<OpenKey> create(const KeyWish& wish);
  // A successor with the same rights. The old one ends after `grace`.
  Result<OpenKey> rotate(const std::string& id, Millis grace);
  // kNotFound.
  Result<AccessKey> revoke(const std::string& id);

  // Takes a key that is not the store's: may do everything.
  void add_local(const Credentials& credentials);
  [[nodiscard]] std::optional<OpenKey> find(const std::string& id);
  // Whether the key may ask once more.
  bool take(const std::string& id, Time now);

 private:
  struct Entry {
    OpenKey open;
    TokenBucket bucket;
    bool local = false;
  };

  KeyRing(store::Store& store, Vault vault, const Clock& clock, Rate rate)
      : store_(store), vault_(std::move(vault)), clock_(clock), rate_(rate) {}
  Result<OpenKey> unseal(const AccessKey& key) const;
  [[nodiscard]] std::string seal(const OpenKey& open) const;
  // Into the store, then into use.
  Result<void> keep(OpenKey& open);
  Result<void> drop(const std::string& id);
  Result<void> make_room();

  store::Store& store_;
  const Vault vault_;
  const Clock& clock_;
  const Rate rate_;
  std::mutex changing_;  // around a change as a whole
  std::mutex mutex_;     // around entries_
  std::map<std::string, Entry> entries_;
};

// Reads the host's own credential, or makes it with mode 0600: whoever can read the file is an administrator.
Result<Credentials> local_credentials(const std::filesystem::path& file);
// Reads only. kNotFound, kPermission.
Result<Credentials> read_credentials(const std::filesystem::path& file);

}  // namespace espalier::access
