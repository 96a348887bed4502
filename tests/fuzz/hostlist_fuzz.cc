// rooms: slurm
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "slurm/hostlist.h"

// A host list is bounded, and compressing what it expands to names the same hosts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier::slurm;
  auto names = expand({reinterpret_cast<const char*>(data), size});
  if (!names) return 0;
  if (names->size() > 65'536) std::abort();
  auto again = expand(compress(*names));
  std::ranges::sort(*names);
  names->erase(std::ranges::unique(*names).begin(), names->end());
  if (again) std::ranges::sort(*again);
  if (!again || *again != *names) std::abort();
  return 0;
}
