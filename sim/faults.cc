#include "faults.h"

#include <boost/mp11.hpp>

#include "base/json.h"

namespace espalier::sim {

namespace {

// The highest rate, for each time that it can strike.
double most(Fault fault) {
  switch (fault) {
    case Fault::Crash:
      return 0.01;
    case Fault::PowerFails:
      return 0.005;
    case Fault::StoreFails:
    case Fault::StoreSilent:
      return 0.05;
    case Fault::RequestLost:
    case Fault::AnswerLost:
    case Fault::RequestTwice:
      return 0.1;
    case Fault::CallHangs:
      return 0.03;
    case Fault::DiesLater:  // for each machine and minute
      return 0.05;
    case Fault::AgentRestarts:
    case Fault::SlurmRestarts:
    case Fault::AdminActs:  // for each minute
      return 0.5;
    case Fault::NeverBoots:
    case Fault::NeverRegisters:
    case Fault::ClockSkew:
    case Fault::ClockJumps:  // for each minute, and at starts
      return 0.1;
    default:
      return 0.4;
  }
}

template <typename Each>
void for_each_fault(Each each) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Fault>>([&](auto one) { each(one.value, one.name); });
}

}  // namespace

Faults Faults::from_seed(Random& random) {
  Faults faults;
  const double share = random.unit() * 0.6;  // of the kinds that are on
  for_each_fault([&](Fault fault, const char*) {
    const bool on = random.unit() < share;
    const double rate = most(fault) * random.unit();
    if (on) faults.set(fault, rate);
  });
  return faults;
}

std::string Faults::text() const {
  std::string out;
  for_each_fault([&](Fault fault, const char* name) {
    if (on(fault)) out += fmt::format("{}{} {:.3f}", out.empty() ? "" : ", ", name, rate(fault));
  });
  return out.empty() ? "none" : out;
}

}  // namespace espalier::sim
