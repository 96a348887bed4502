// The agent's side of its conversation with the control plane (protocol.h): enrols when it must, then next and report.
//
// next() and report() are for one thread each; the two may run at the same time. Every call is one try: who calls
// decides when to try again. The credential is kept in a file, with the key and certificate to which it is bound, so
// that an agent that starts anew needs no token. That file is replaced as a whole: a crash leaves one or the other.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "agent/http_client.h"
#include "agent/protocol.h"
#include "base/json.h"
#include "base/result.h"

namespace espalier::agent {

// What a machine is given at its launch.
struct UserData {
  std::string control_plane;  // "https://10.77.0.1:8651#sha256=…", as parse_base_url() reads it
  std::string machine_id;
  std::string token;  // secret; good for one enrolment
};
BOOST_DESCRIBE_STRUCT(UserData, (), (control_plane, machine_id, token))

// By what the control plane knows this machine. Secret.
struct Identity {
  std::string credential;        // "" before it is enrolled
  std::string certificate, key;  // PEM; "" without TLS
};
BOOST_DESCRIBE_STRUCT(Identity, (), (credential, certificate, key))

class Link {
 public:
  // kInvalid when control_plane is no usable URL. `slurm`: see Enrol.
  static Result<std::unique_ptr<Link>> make(UserData user_data, std::filesystem::path credential_file,
                                            std::string slurm = {});

  [[nodiscard]] const std::string& machine_id() const { return user_data_.machine_id; }
  // Waits up to kLongPoll and some more for commands.
  Result<NextAnswer> next(const NextCall& call);
  Result<void> report(const Report& report);
  // On the thread of next(): another key, certificate and credential in place of those in hand, which stay good until
  // the first call with the new ones.
  Result<void> renew();
  // On the thread of next(). kNotFound: the control plane has not got it now.
  Result<std::vector<ScriptFile>> fetch(const std::string& digest);
  // The same for the machines of the cluster.
  Result<std::vector<HostEntry>> hosts();

 private:
  Link(UserData user_data, const BaseUrl& base, std::filesystem::path credential_file, std::string slurm);

  Result<json::value> call(HttpClient& client, const char* path, const json::value& body, Millis timeout);
  Result<void> take(Identity identity);
  Result<Identity> new_identity() const;
  [[nodiscard]] Result<void> keep(const Identity& identity) const;
  // The one in hand; enrols for one when there is none. kPermission: the control plane does not want this machine.
  Result<std::string> credential(HttpClient& client);
  Result<std::string> enrol(HttpClient& client);
  void forget(const std::string& refused);

  const UserData user_data_;
  const std::string pin_;
  const std::filesystem::path credential_file_;
  const std::string slurm_;
  HttpClient next_client_;
  HttpClient report_client_;

  std::mutex mutex_;  // guards what follows; held while enrolling, so that only one does
  Identity identity_;
  std::shared_ptr<const Trust> trust_;
  std::string refused_;  // the last one that was refused: tried again when enrolling is refused too
};

}  // namespace espalier::agent
