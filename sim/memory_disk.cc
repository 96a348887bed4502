#include "memory_disk.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace espalier::sim {

struct MemoryDisk::Handle {
  sqlite3_file base;  // first: SQLite sees only this
  MemoryDisk* disk;
  std::shared_ptr<File> file;
  int process;
  int lock;
  unsigned shm_shared;
  unsigned shm_exclusive;

  [[nodiscard]] bool stale() const { return process != disk->process_; }
};

bool MemoryDisk::takes_effect(const Handle& handle) {
  if (handle.stale() || failed_) return false;
  if (fails_in_ == 0) return true;
  failed_ = --fails_in_ == 0;
  return !failed_;
}

void MemoryDisk::apply(std::string& data, const Write& write) {
  const auto offset = static_cast<std::size_t>(write.offset);
  if (write.truncates) return data.resize(offset);
  if (data.size() < offset + write.bytes.size()) data.resize(offset + write.bytes.size());
  std::memcpy(data.data() + offset, write.bytes.data(), write.bytes.size());
}

// The C functions that SQLite calls.
struct MemoryDisk::Calls {
  static Handle& handle(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
  static MemoryDisk& disk(sqlite3_vfs* vfs) { return *static_cast<MemoryDisk*>(vfs->pAppData); }

  static int close(sqlite3_file* file) {
    Handle& it = handle(file);
    if (!it.stale()) {
      unlock(file, SQLITE_LOCK_NONE);
      shm_unmap(file, 0);
    }
    it.file.~shared_ptr();
    return SQLITE_OK;
  }
  static int read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
    const std::string& data = handle(file).file->data;
    const auto from = std::min(static_cast<std::size_t>(offset), data.size());
    const auto have = std::min(static_cast<std::size_t>(size), data.size() - from);
    std::memcpy(out, data.data() + from, have);
    std::memset(static_cast<char*>(out) + have, 0, static_cast<std::size_t>(size) - have);
    return have == static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }
  static int change(sqlite3_file* file, Write write) {
    Handle& it = handle(file);
    if (!it.disk->takes_effect(it)) return SQLITE_IOERR_WRITE;
    apply(it.file->data, write);
    it.file->unflushed.push_back(std::move(write));
    return SQLITE_OK;
  }
  static int write(sqlite3_file* file, const void* in, int size, sqlite3_int64 offset) {
    return change(file, {offset, std::string(static_cast<const char*>(in), static_cast<std::size_t>(size)), false});
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) { return change(file, {size, "", true}); }
  static int sync(sqlite3_file* file, int) {
    Handle& it = handle(file);
    if (!it.disk->takes_effect(it)) return SQLITE_IOERR_FSYNC;
    for (const Write& one : it.file->unflushed) apply(it.file->flushed, one);
    it.file->unflushed.clear();
    return SQLITE_OK;
  }
  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>(handle(file).file->data.size());
    return SQLITE_OK;
  }

  static int lock(sqlite3_file* file, int level) {
    Handle& it = handle(file);
    File& on = *it.file;
    const auto others = [&](const void* holder) { return holder != nullptr && holder != &it; };
    if (it.stale()) return SQLITE_IOERR_LOCK;
    if (level <= it.lock) return SQLITE_OK;
    if (others(on.exclusive)) return SQLITE_BUSY;
    if (level >= SQLITE_LOCK_RESERVED && others(on.reserved)) return SQLITE_BUSY;
    if (level == SQLITE_LOCK_EXCLUSIVE && on.shared > (it.lock >= SQLITE_LOCK_SHARED ? 1 : 0)) return SQLITE_BUSY;
    if (it.lock < SQLITE_LOCK_SHARED) ++on.shared;
    if (level >= SQLITE_LOCK_RESERVED) on.reserved = &it;
    if (level == SQLITE_LOCK_EXCLUSIVE) on.exclusive = &it;
    it.lock = level;
    return SQLITE_OK;
  }
  static int unlock(sqlite3_file* file, int level) {
    Handle& it = handle(file);
    File& on = *it.file;
    if (it.stale() || level >= it.lock) return SQLITE_OK;
    if (on.exclusive == &it) on.exclusive = nullptr;
    if (on.reserved == &it) on.reserved = nullptr;
    if (level == SQLITE_LOCK_NONE && it.lock >= SQLITE_LOCK_SHARED) --on.shared;
    it.lock = level;
    return SQLITE_OK;
  }
  static int is_reserved(sqlite3_file* file, int* out) {
    *out = handle(file).file->reserved != nullptr ? 1 : 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file*) { return 512; }
  static int characteristics(sqlite3_file*) { return 0; }

  static int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
    Handle& it = handle(file);
    *out = nullptr;
    if (it.stale()) return SQLITE_IOERR_SHMMAP;
    auto& shm = it.file->shm;
    if (static_cast<std::size_t>(page) >= shm.size()) {
      if (extend == 0) return SQLITE_OK;
      while (shm.size() <= static_cast<std::size_t>(page))
        shm.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
    }
    *out = shm[static_cast<std::size_t>(page)].get();
    return SQLITE_OK;
  }
  static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    Handle& it = handle(file);
    File& on = *it.file;
    if (it.stale()) return SQLITE_IOERR_SHMLOCK;
    const bool takes = (flags & SQLITE_SHM_LOCK) != 0;
    const bool shared = (flags & SQLITE_SHM_SHARED) != 0;
    for (int i = offset; takes && i < offset + count; ++i) {
      if (on.shm_exclusive[i] != nullptr && on.shm_exclusive[i] != &it) return SQLITE_BUSY;
      const int own = (it.shm_shared >> i & 1U) != 0 ? 1 : 0;
      if (!shared && on.shm_shared[i] > own) return SQLITE_BUSY;
    }
    for (int i = offset; i < offset + count; ++i) set_shm(it, i, takes, shared);
    return SQLITE_OK;
  }
  static void set_shm(Handle& it, int i, bool takes, bool shared) {
    File& on = *it.file;
    const unsigned bit = 1U << i;
    if (shared && ((it.shm_shared & bit) != 0) != takes) {
      it.shm_shared ^= bit;
      on.shm_shared[i] += takes ? 1 : -1;
    } else if (!shared) {
      on.shm_exclusive[i] = takes ? &it : nullptr;
    }
  }
  static void shm_barrier(sqlite3_file*) {}
  static int shm_unmap(sqlite3_file* file, int remove) {
    Handle& it = handle(file);
    if (it.stale()) return SQLITE_OK;
    for (int i = 0; i < SQLITE_SHM_NLOCK; ++i) {
      set_shm(it, i, false, true);
      if (it.file->shm_exclusive[i] == &it) it.file->shm_exclusive[i] = nullptr;
    }
    if (remove != 0) it.file->shm.clear();
    return SQLITE_OK;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    static const sqlite3_io_methods methods{
        2,          &close,       &read,    &write,       &truncate,        &sync,    &file_size, &lock,
        &unlock,    &is_reserved, &control, &sector_size, &characteristics, &shm_map, &shm_lock,  &shm_barrier,
        &shm_unmap, nullptr,      nullptr};
    MemoryDisk& on = disk(vfs);
    std::shared_ptr<File> found = std::make_shared<File>();
    if (name != nullptr) {
      auto& kept = on.files_[name];
      if (!kept) kept = found;
      found = kept;
    }
    new (file) Handle{{&methods}, &on, std::move(found), on.process_, SQLITE_LOCK_NONE, 0, 0};
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int) {
    MemoryDisk& on = disk(vfs);
    if (on.failed_ || on.down_) return SQLITE_IOERR_DELETE;
    return on.files_.erase(name) > 0 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
  }
  static int access(sqlite3_vfs* vfs, const char* name, int, int* out) {
    *out = disk(vfs).files_.contains(name) ? 1 : 0;
    return SQLITE_OK;
  }
  static int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }
  static int randomness(sqlite3_vfs* vfs, int size, char* out) {
    for (int i = 0; i < size; ++i) out[i] = static_cast<char>(disk(vfs).random_.below(256));
    return size;
  }
  static int sleep(sqlite3_vfs*, int microseconds) { return microseconds; }
  static int time(sqlite3_vfs*, double* days) {
    *days = 2461000.5;
    return SQLITE_OK;
  }
};

MemoryDisk::MemoryDisk(std::uint64_t seed)
    : random_(seed), name_("memory-disk-" + random_.hex(16)), vfs_(std::make_unique<sqlite3_vfs>()) {
  vfs_->iVersion = 1;
  vfs_->szOsFile = sizeof(Handle);
  vfs_->mxPathname = 64;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = &Calls::open;
  vfs_->xDelete = &Calls::remove;
  vfs_->xAccess = &Calls::access;
  vfs_->xFullPathname = &Calls::full_path;
  vfs_->xRandomness = &Calls::randomness;
  vfs_->xSleep = &Calls::sleep;
  vfs_->xCurrentTime = &Calls::time;
  sqlite3_vfs_register(vfs_.get(), 0);
}

MemoryDisk::~MemoryDisk() { sqlite3_vfs_unregister(vfs_.get()); }

// Handles that are open are of another process from now on; its locks and its memory go with it.
void MemoryDisk::process_ends() {
  ++process_;
  down_ = true;
  for (auto& [name, file] : files_) {
    auto next = std::make_shared<File>();
    next->data = file->data;
    next->flushed = file->flushed;
    next->unflushed = file->unflushed;
    file = std::move(next);
  }
  if (failed_) power_fails();
}

// Of what was not flushed, any part may be on the disk.
void MemoryDisk::power_fails() {
  for (auto& [name, file] : files_) {
    for (const Write& write : file->unflushed)
      if (random_.below(2) == 0) apply(file->flushed, write);
    file->unflushed.clear();
    file->data = file->flushed;
  }
  failed_ = false;
  fails_in_ = 0;
}

}  // namespace espalier::sim
