#include "access/audit.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <ranges>
#include <sstream>

#include "base/file.h"
#include "base/log.h"

namespace espalier::access {

namespace {

constexpr std::string_view kEnding = ".jsonl";
constexpr std::size_t kDayLength = 10;     // 2026-01-01
constexpr std::size_t kMostOfAName = 128;  // of what a stranger wrote
constexpr std::size_t kPiece = 256 << 10;  // read at a time; longer than any line
constexpr std::size_t kMostReadPerPage = 8 << 20;
constexpr std::size_t kDaysOfARequest = 2;  // one may begin before midnight and end after

std::string iso_time(Time time) {
  const auto millis = time.time_since_epoch().count() % 1000;
  return fmt::format("{:%FT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)), millis);
}

// Days of which there is a file, newest first.
std::vector<std::string> days_of(const std::filesystem::path& folder) {
  std::vector<std::string> days;
  std::error_code ec;
  for (const auto& each : std::filesystem::directory_iterator(folder, ec)) {
    const auto name = each.path().filename().string();
    if (name.size() == kDayLength + kEnding.size() && name.ends_with(kEnding))
      days.push_back(name.substr(0, kDayLength));
  }
  std::ranges::sort(days, std::greater());
  return days;
}

// A place in the trail: everything of `day` before `offset`.
struct Place {
  std::string day;
  std::size_t offset = 0;

  [[nodiscard]] std::string text() const { return fmt::format("{}:{}", day, offset); }
};

Result<Place> parse_place(const std::string& text) {
  Place place{text.substr(0, std::min(kDayLength, text.size())), 0};
  const auto* end = text.data() + text.size();
  const bool shaped = text.size() > kDayLength + 1 && text[kDayLength] == ':' &&
                      place.day.find_first_not_of("0123456789-") == std::string::npos;
  if (shaped) {
    const auto [at, error] = std::from_chars(text.data() + kDayLength + 1, end, place.offset);
    if (error == std::errc() && at == end) return place;
  }
  return fail(ErrorCode::kInvalid, "'{}' is no place in the audit trail", text);
}

// The bytes [from, to) of a file, as many as there are.
std::string read_piece(int fd, std::size_t from, std::size_t to) {
  std::string piece(to - from, '\0');
  const ssize_t n = pread(fd, piece.data(), piece.size(), static_cast<off_t>(from));
  piece.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return piece;
}

bool is_beginning(const AuditRecord& record) { return record.status == kBegun && record.error.empty(); }

bool matches(const AuditQuery& query, const AuditRecord& record) {
  return (query.key_id.empty() || record.key_id == query.key_id) && (!query.errors_only || !record.error.empty());
}

// Goes backwards through one day's file from place.offset, and moves it. False: the page is full, or enough was read.
bool read_day(const std::filesystem::path& file, const AuditQuery& query, Place& place, std::size_t& budget,
              AuditPage& page) {
  const UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat is{};
  if (!fd || fstat(fd.get(), &is) != 0) return true;
  place.offset = std::min(place.offset, static_cast<std::size_t>(is.st_size));
  while (place.offset > 0) {
    if (budget == 0) return false;
    const std::size_t from = place.offset - std::min(place.offset, kPiece);
    std::string piece = read_piece(fd.get(), from, place.offset);
    budget -= std::min(budget, piece.size());
    if (piece.empty()) return true;
    // Without the line that began in the piece before.
    const std::size_t whole = from == 0 ? 0 : std::min(piece.find('\n') + 1, piece.size() - 1);
    while (piece.size() > whole) {
      const std::size_t last = piece.size() - (piece.ends_with('\n') ? 1 : 0);
      const auto mark = last == 0 ? std::string::npos : piece.rfind('\n', last - 1);
      const std::size_t start = mark == std::string::npos ? whole : std::max(mark + 1, whole);
      const auto parsed = parse_json(std::string_view(piece).substr(start, last - start));
      const auto record = parsed ? from_json<AuditRecord>(*parsed) : tl::unexpected(parsed.error());
      if (record && !is_beginning(*record) && matches(query, *record)) {
        if (page.records.size() >= query.limit) return false;
        page.records.push_back(*record);
      }
      piece.resize(start);
      place.offset = from + start;
    }
  }
  return true;
}

std::string tail_of(const std::filesystem::path& file) {
  const UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat is{};
  if (!fd || fstat(fd.get(), &is) != 0) return "";
  const auto size = static_cast<std::size_t>(is.st_size);
  return read_piece(fd.get(), size - std::min(size, kMostReadPerPage), size);
}

// A disk that was full may have left half a line.
void end_last_line(int fd) {
  const off_t size = lseek(fd, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n') (void)!::write(fd, "\n", 1);
}

}  // namespace

Result<std::unique_ptr<AuditTrail>> AuditTrail::open(std::filesystem::path folder, const Clock& clock) {
  if (auto made = make_folder(folder, 0700); !made) return tl::unexpected(made.error());
  std::unique_ptr<AuditTrail> trail(new AuditTrail(std::move(folder), clock));
  trail->end_what_was_begun();
  return trail;
}

void AuditTrail::end_what_was_begun() {
  std::map<std::string, AuditRecord> open_ones;
  auto days = days_of(folder_);
  days.resize(std::min(days.size(), kDaysOfARequest));
  for (const auto& day : days | std::views::reverse) {
    std::istringstream lines(tail_of(folder_ / (day + std::string(kEnding))));
    for (std::string line; std::getline(lines, line);) {
      const auto parsed = parse_json(line);
      const auto record = parsed ? from_json<AuditRecord>(*parsed) : tl::unexpected(parsed.error());
      if (!record) continue;
      if (is_beginning(*record))
        open_ones[record->request_id] = *record;
      else
        open_ones.erase(record->request_id);
    }
  }
  for (auto& [id, record] : open_ones) {
    record.error = kInterrupted;
    write(std::move(record), false);
  }
}

bool AuditTrail::append(const std::string& day, const std::string& line) {
  if (!file_ || day != day_) {
    const auto path = folder_ / (day + std::string(kEnding));
    file_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (file_) end_last_line(file_.get());
    day_ = day;
  }
  const bool written = file_ && ::write(file_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!written) file_ = UniqueFd();
  return written;
}

void AuditTrail::write(AuditRecord record, bool refused) {
  const Time now = clock_.now();
  record.time = iso_time(now);
  for (auto* text : {&record.key_id, &record.name, &record.operation, &record.cluster})
    if (text->size() > kMostOfAName) text->resize(kMostOfAName);
  const std::lock_guard lock(mutex_);
  if (refused && !refusals_.take(now)) return static_cast<void>(++suppressed_);
  record.suppressed = std::exchange(suppressed_, 0);
  const std::string line = json::serialize(to_json(record)) + "\n";
  if (append(record.time.substr(0, kDayLength), line)) return;
  log::error("the audit trail in {} cannot be written ({}); the record: {}", folder_.string(), std::strerror(errno),
             line.substr(0, line.size() - 1));
}

Result<AuditPage> AuditTrail::read(const AuditQuery& query) {
  Place place{"9999-99-99", std::string::npos};
  if (!query.before.empty()) {
    auto parsed = parse_place(query.before);
    if (!parsed) return tl::unexpected(parsed.error());
    place = std::move(*parsed);
  }
  AuditPage page;
  std::size_t budget = kMostReadPerPage;
  for (const auto& day : days_of(folder_)) {
    if (day > place.day) continue;
    if (day != place.day) place = {day, std::string::npos};
    if (read_day(folder_ / (day + std::string(kEnding)), query, place, budget, page)) continue;
    page.next = place.text();
    return page;
  }
  return page;
}

}  // namespace espalier::access
