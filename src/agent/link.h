// The agent's side of its conversation with the control plane (protocol.h): enrols when it must, then next and report.
//
// next() and report() are for one thread each; the two may run at the same time. Every call is one try: who calls
// decides when to try again. The credential is kept in a file, so that an agent that starts anew needs no token.
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

class Link {
 public:
  // kInvalid when control_plane is no usable URL. Beside the credential's file are the key and certificate that this
  // machine shows: made once, since the credential is bound to them. `slurm`: see Enrol.
  static Result<std::unique_ptr<Link>> make(UserData user_data, std::filesystem::path credential_file,
                                            std::string slurm = {});

  [[nodiscard]] const std::string& machine_id() const { return user_data_.machine_id; }
  // Waits up to kLongPoll and some more for commands.
  Result<NextAnswer> next(const NextCall& call);
  Result<void> report(const Report& report);
  // On the thread of next(). kNotFound: the control plane has not got it now.
  Result<std::vector<ScriptFile>> fetch(const std::string& digest);

 private:
  Link(UserData user_data, const BaseUrl& base, const std::shared_ptr<const Trust>& trust,
       std::filesystem::path credential_file, std::string slurm);

  Result<json::value> call(HttpClient& client, const char* path, const json::value& body, Millis timeout);
  // The one in hand; enrols for one when there is none. kPermission: the control plane does not want this machine.
  Result<std::string> credential(HttpClient& client);
  Result<std::string> enrol(HttpClient& client);
  void forget(const std::string& refused);

  const UserData user_data_;
  const std::filesystem::path credential_file_;
  const std::string slurm_;
  HttpClient next_client_;
  HttpClient report_client_;

  std::mutex mutex_;  // guards what follows; held while enrolling, so that only one does
  std::string credential_;
  std::string refused_;  // the last one that was refused: tried again when enrolling is refused too
};

}  // namespace espalier::agent
