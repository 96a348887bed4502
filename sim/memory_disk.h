// A disk in memory for SQLite, as a file system of its own (sqlite3_vfs): when the process ends what it wrote is there;
// when the power fails, what was not flushed is lost, or a part of it, in any order, as a real disk may do it.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace espalier::sim {

class MemoryDisk {
 public:
  explicit MemoryDisk(std::uint64_t seed);
  ~MemoryDisk();
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  // The name under which SQLite knows it.
  [[nodiscard]] const char* vfs() const { return name_.c_str(); }
  // The process that has files open ends: nothing that it still does has an effect, until another begins.
  void process_ends();
  void process_begins() { down_ = false; }
  void power_fails();
  // The power fails at the nth write from now.
  void power_fails_at_write(int nth) { fails_in_ = nth; }
  [[nodiscard]] bool has_failed() const { return failed_; }

 private:
  struct Write {
    std::int64_t offset = 0;
    std::string bytes;
    bool truncates = false;  // to `offset`
  };
  struct File {
    std::string data;
    std::string flushed;
    std::vector<Write> unflushed;
    // Locks of the open handles, by SQLite's rules.
    int shared = 0;
    const void* reserved = nullptr;
    const void* exclusive = nullptr;
    // The shared memory of WAL mode.
    std::vector<std::unique_ptr<char[]>> shm;
    int shm_shared[SQLITE_SHM_NLOCK] = {};
    const void* shm_exclusive[SQLITE_SHM_NLOCK] = {};
  };
  struct Handle;
  struct Calls;

  bool takes_effect(const Handle& handle);
  static void apply(std::string& data, const Write& write);

  Random random_;
  std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::map<std::string, std::shared_ptr<File>> files_;
  int process_ = 1;
  int fails_in_ = 0;
  bool failed_ = false;
  bool down_ = false;
};

}  // namespace espalier::sim
