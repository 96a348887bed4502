#include "access/key_ring.h"

#include <algorithm>

#include "base/file.h"
#include "base/random.h"

namespace espalier::access {

namespace {

constexpr Millis kExpiredAreKept = std::chrono::hours(24 * 7);
constexpr int kSecretBytes = 20;

std::string new_id(std::string_view kind) {
  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string id(kind);
  for (const char c : secret_bytes(16)) id += kLetters[static_cast<unsigned char>(c) % kLetters.size()];
  return id;
}

// What the sealed secret is bound to.
std::string about(const AccessKey& key) {
  AccessKey rights = key;
  rights.sealed.clear();
  return json::serialize(to_json(rights));
}

struct LocalFile {
  std::string AccessKeyId;
  std::string SecretAccessKey;
};
BOOST_DESCRIBE_STRUCT(LocalFile, (), (AccessKeyId, SecretAccessKey))

}  // namespace

Result<std::unique_ptr<KeyRing>> KeyRing::open(store::Store& store, Vault vault, const Clock& clock, Rate rate) {
  std::unique_ptr<KeyRing> ring(new KeyRing(store, std::move(vault), clock, rate));
  auto keys = store.access_keys();
  if (!keys) return tl::unexpected(keys.error());
  for (const auto& key : *keys) {
    auto opened = ring->unseal(key);
    if (!opened) return tl::unexpected(opened.error());
    ring->entries_.emplace(key.id, Entry{std::move(*opened), TokenBucket(rate)});
  }
  return ring;
}

Result<OpenKey> KeyRing::unseal(const AccessKey& key) const {
  auto secret = vault_.unseal(key.sealed, about(key));
  if (!secret) return fail(secret.error().code, "access key {}: {}", key.id, secret.error().message);
  const auto end = std::min(secret->find('\n'), secret->size());
  Credentials credentials{key.id, secret->substr(0, end)};
  if (end < secret->size()) credentials.session_token = secret->substr(end + 1);
  return OpenKey{key, std::move(credentials)};
}

std::string KeyRing::seal(const OpenKey& open) const {
  const auto& [id, secret, token] = open.credentials;
  return vault_.seal(token.empty() ? secret : secret + "\n" + token, about(open.key));
}

bool KeyRing::empty() {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(entries_, [](const auto& each) { return each.second.local; });
}

std::vector<AccessKey> KeyRing::list() {
  const std::lock_guard lock(mutex_);
  std::vector<AccessKey> out;
  for (const auto& [id, entry] : entries_)
    if (!entry.local) out.push_back(entry.open.key);
  return out;
}

Result<void> KeyRing::keep(OpenKey& open) {
  open.key.sealed = seal(open);
  if (auto kept = store_.put_access_key(open.key); !kept) return kept;
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(open.key.id);
  if (found == entries_.end())
    entries_.emplace(open.key.id, Entry{open, TokenBucket(rate_)});
  else
    found->second.open = open;
  return {};
}

Result<void> KeyRing::drop(const std::string& id) {
  if (auto dropped = store_.drop_access_key(id); !dropped) return dropped;
  const std::lock_guard lock(mutex_);
  entries_.erase(id);
  return {};
}

Result<void> KeyRing::make_room() {
  const auto keys = list();
  auto left = keys.size();
  for (const auto& key : keys) {
    if (!key.expires_at || *key.expires_at + kExpiredAreKept > clock_.now()) continue;
    if (auto dropped = drop(key.id); !dropped) return dropped;
    --left;
  }
  if (left < kMostKeys) return {};
  return fail(ErrorCode::kLimit, "There are {} access keys already: revoke some that are not used", left);
}

Result<OpenKey> KeyRing::create(const KeyWish& wish) {
  const std::lock_guard changing(changing_);
  if (auto room = make_room(); !room) return tl::unexpected(room.error());
  OpenKey made;
  made.key.id = new_id(wish.lifetime ? "ESPT" : "ESPK");
  made.key.name = wish.name;
  made.key.role = wish.role;
  made.key.clusters = wish.clusters;
  made.key.created_at = clock_.now();
  made.key.temporary = wish.lifetime.has_value();
  if (wish.lifetime) made.key.expires_at = clock_.now() + *wish.lifetime;
  made.credentials = {made.key.id, secret_hex(kSecretBytes), wish.lifetime ? secret_hex(kSecretBytes) : ""};
  if (auto kept = keep(made); !kept) return tl::unexpected(kept.error());
  return made;
}

Result<OpenKey> KeyRing::rotate(const std::string& id, Millis grace) {
  auto old = find(id);
  if (!old) return fail(ErrorCode::kNotFound, "There is no access key {}", id);
  if (old->key.temporary)
    return fail(ErrorCode::kInvalid, "Access key {} is temporary: make a new one in its place", id);
  auto made = create({old->key.name, old->key.role, old->key.clusters});
  if (!made) return made;
  const std::lock_guard changing(changing_);
  const Time end = clock_.now() + grace;
  old->key.expires_at = old->key.expires_at ? std::min(*old->key.expires_at, end) : end;
  if (auto kept = keep(*old); !kept) return tl::unexpected(kept.error());
  return made;
}

Result<AccessKey> KeyRing::revoke(const std::string& id) {
  const std::lock_guard changing(changing_);
  const auto keys = list();
  const auto found = std::ranges::find(keys, id, &AccessKey::id);
  if (found == keys.end()) return fail(ErrorCode::kNotFound, "There is no access key {}", id);
  if (auto dropped = drop(id); !dropped) return tl::unexpected(dropped.error());
  return *found;
}

void KeyRing::add_local(const Credentials& credentials) {
  const std::lock_guard lock(mutex_);
  AccessKey key;
  key.id = credentials.key_id;
  key.name = "root of this host";
  key.role = Role::Admin;
  entries_.insert_or_assign(key.id, Entry{{key, credentials}, TokenBucket(rate_), true});
}

std::optional<OpenKey> KeyRing::find(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.open);
}

bool KeyRing::take(const std::string& id, Time now) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.bucket.take(now);
}

Result<Credentials> read_credentials(const std::filesystem::path& file) {
  if (auto ok = check_private(file); !ok) return tl::unexpected(ok.error());
  auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  auto parsed = parse_json(*text);
  auto read = parsed ? from_json<LocalFile>(*parsed) : tl::unexpected(parsed.error());
  if (!read || read->SecretAccessKey.empty())
    return fail(ErrorCode::kInvalid, "{} holds no credential: remove it, and restart the control plane", file.string());
  return Credentials{read->AccessKeyId, read->SecretAccessKey};
}

Result<Credentials> local_credentials(const std::filesystem::path& file) {
  auto there = read_credentials(file);
  if (there || there.error().code != ErrorCode::kNotFound) return there;
  Credentials made{new_id("ESPL"), secret_hex(kSecretBytes)};
  const auto text = pretty_json(to_json(LocalFile{made.key_id, made.secret})) + "\n";
  if (auto written = write_file(file, text, 0600); !written) return tl::unexpected(written.error());
  return made;
}

}  // namespace espalier::access
