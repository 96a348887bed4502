#include "slurm/hostlist.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <unordered_map>

namespace espalier::slurm {
namespace {

constexpr std::size_t kMaxLength = 255;  // of a host's name
// Slurm counts in 64 bits; 18 digits always fit. Digits before them belong to the prefix.
constexpr std::size_t kMaxDigits = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_separator(char c) { return c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0; }

// "p5-12" → "p5-" and "12".
struct Split {
  std::string_view prefix;
  std::string_view digits;

  explicit Split(std::string_view name) {
    std::size_t from = name.size();
    while (from > 0 && name.size() - from < kMaxDigits && is_digit(name[from - 1])) --from;
    prefix = name.substr(0, from);
    digits = name.substr(from);
  }
};

// A longer number is a larger one: right for plain numbers, and it keeps "07" apart from "7" as Slurm does.
int compare_digits(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

std::string_view take_digits(std::string_view& text) {
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(digits.size());
  return digits;
}

// Compares run by run: runs of digits as numbers, all else by character.
int compare_text(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      if (const int order = compare_digits(take_digits(a), take_digits(b)); order != 0) return order;
    } else if (a.front() != b.front()) {
      return a.front() < b.front() ? -1 : 1;
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

bool split_less(const Split& a, const Split& b) {
  if (a.prefix == b.prefix) return compare_digits(a.digits, b.digits) < 0;
  return compare_text(a.prefix, b.prefix) < 0;
}

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// What the bracket range that started with `first` prints for `value`.
std::string padded(std::uint64_t value, std::size_t width) { return fmt::format("{:0{}}", value, width); }

// One item of a host list, such as "rack[1-2]n[01-10]", while it is read: what may stand at each of its parts. Names
// are made when all is known to be within bounds, so that the cost is that of the answer.
class Item {
 public:
  Item(std::string_view text, std::size_t room) : text_(text), room_(room) {}

  Result<std::vector<std::string>> expand() {
    while (at_ < text_.size()) {
      if (text_[at_] == ']') return error("a ']' without '['");
      if (text_[at_] != '[') {
        literal();
      } else if (auto ok = bracket(); !ok) {
        return tl::unexpected(ok.error());
      }
      if (longest_ > kMaxLength) return error(fmt::format("a name of more than {} characters", kMaxLength));
    }
    return names();
  }

 private:
  void literal() {
    const auto end = std::min(text_.find_first_of("[]", at_), text_.size());
    parts_.push_back({std::string(text_.substr(at_, end - at_))});
    longest_ += end - at_;
    at_ = end;
  }

  Result<void> bracket() {
    const auto close = text_.find(']', at_);
    if (close == std::string_view::npos) return error("a '[' without ']'");
    auto list = text_.substr(at_ + 1, close - at_ - 1);
    std::vector<std::string> numbers;
    while (true) {
      const auto comma = std::min(list.find(','), list.size());
      if (auto ok = range(list.substr(0, comma), numbers); !ok) return ok;
      if (comma == list.size()) break;
      list.remove_prefix(comma + 1);
    }
    count_ *= numbers.size();
    if (count_ > room_) return error(fmt::format("more than {} names", kNodeTable));
    longest_ += std::ranges::max(numbers, {}, &std::string::size).size();
    parts_.push_back(std::move(numbers));
    at_ = close + 1;
    return {};
  }

  Result<void> range(std::string_view text, std::vector<std::string>& numbers) {
    const auto dash = text.find('-');
    const auto low = text.substr(0, dash);
    const auto high = dash == std::string_view::npos ? low : text.substr(dash + 1);
    const auto is_number = [](std::string_view t) {
      return !t.empty() && t.size() <= kMaxDigits && std::ranges::all_of(t, is_digit);
    };
    if (!is_number(low) || !is_number(high))
      return error(fmt::format("'{}' is no number or range", text.substr(0, 80)));
    const auto first = number_of(low), last = number_of(high);
    if (first > last) return error(fmt::format("the range '{}' runs backwards", text));
    if (last - first >= room_ - std::min(room_, numbers.size()))
      return error(fmt::format("more than {} names", kNodeTable));
    for (auto n = first; n <= last; ++n) numbers.push_back(padded(n, low.size()));
    return {};
  }

  // Leftmost bracket slowest, as slurmctld counts.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      out[i].reserve(longest_);
      std::size_t block = count_;  // how many names the choices up to here have in common
      for (const auto& part : parts_) {
        block /= part.size();
        out[i] += part[i / block % part.size()];
      }
    }
    return out;
  }

  [[nodiscard]] tl::unexpected<Error> error(std::string_view what) const {
    return fail(ErrorCode::kInvalid, "host list item '{}', character {}: {}; write it like p5-[1-3,7]",
                text_.substr(0, 80), at_ + 1, what);
  }

  std::string_view text_;
  std::size_t room_;
  std::size_t at_ = 0;
  std::size_t count_ = 1;
  std::size_t longest_ = 0;
  std::vector<std::vector<std::string>> parts_;
};

// The item at the front: up to a separator that is not within brackets.
std::string_view take_item(std::string_view& list) {
  bool within = false;
  std::size_t end = 0;
  for (; end < list.size() && (within || !is_separator(list[end])); ++end) {
    if (list[end] == '[') within = true;
    if (list[end] == ']') within = false;
  }
  const auto item = list.substr(0, end);
  list.remove_prefix(end);
  return item;
}

std::size_t digits_in(std::uint64_t value) {
  std::size_t count = 1;
  for (; value >= 10; value /= 10) ++count;
  return count;
}

// From `it` on: how far names follow each other in one range. A range prints numbers of more digits than its first as
// they are, so that is what the next name must look like.
template <typename Iterator>
Iterator end_of_run(Iterator it, Iterator end) {
  auto next = number_of(it->digits);
  const auto width = it->digits.size();
  const auto prefix = it->prefix;
  for (; it != end && it->prefix == prefix; ++it, ++next)
    if (it->digits.size() != std::max(width, digits_in(next)) || number_of(it->digits) != next) break;
  return it;
}

// What decides about the place of a name: prefixes by their rank, then the digits, longer ones later.
struct Key {
  std::uint32_t prefix = 0;
  std::uint32_t width = 0;
  std::uint64_t number = 0;
  std::uint32_t at = 0;  // the name's own place: equal names stay in order
  auto operator<=>(const Key&) const = default;
};

// prefix → its rank in natural order.
std::unordered_map<std::string_view, std::uint32_t> ranks_of(const std::vector<Split>& splits) {
  std::unordered_map<std::string_view, std::uint32_t> ranks;
  const std::string_view* last = nullptr;  // neighbours often share a prefix
  for (const auto& split : splits) {
    if (last == nullptr || *last != split.prefix) ranks.try_emplace(split.prefix);
    last = &split.prefix;
  }
  std::vector<std::string_view> prefixes;
  prefixes.reserve(ranks.size());
  for (const auto& [prefix, rank] : ranks) prefixes.push_back(prefix);
  std::ranges::sort(prefixes, [](auto a, auto b) { return compare_text(a, b) < 0; });
  for (std::uint32_t i = 0; i < prefixes.size(); ++i) ranks[prefixes[i]] = i;
  return ranks;
}

}  // namespace

Result<std::vector<std::string>> expand(std::string_view hostlist) {
  std::vector<std::string> names;
  if (hostlist == "(null)") return names;
  while (true) {
    while (!hostlist.empty() && is_separator(hostlist.front())) hostlist.remove_prefix(1);
    if (hostlist.empty()) return names;
    if (names.size() == kNodeTable) return fail(ErrorCode::kInvalid, "a host list of more than {} names", kNodeTable);
    auto item = Item(take_item(hostlist), kNodeTable - names.size()).expand();
    if (!item) return item;
    names.insert(names.end(), std::make_move_iterator(item->begin()), std::make_move_iterator(item->end()));
  }
}

std::string compress(const std::vector<std::string>& names) {
  std::vector<Split> splits;
  splits.reserve(names.size());
  for (const auto at : natural_order({names.begin(), names.end()}))
    if (!names[at].empty()) splits.emplace_back(names[at]);
  const auto same = [](const Split& a, const Split& b) { return a.prefix == b.prefix && a.digits == b.digits; };
  const auto rest = std::ranges::unique(splits, same);
  splits.erase(rest.begin(), rest.end());

  std::string out;
  for (auto it = splits.begin(); it != splits.end();) {
    const auto prefix = it->prefix;
    std::string inside;
    bool several = false;
    while (it != splits.end() && it->prefix == prefix && !it->digits.empty()) {
      const auto first = it->digits;
      const auto end = end_of_run(it, splits.end());
      const auto last = std::prev(end)->digits;
      several = several || !inside.empty() || first != last;
      if (!inside.empty()) inside += ',';
      inside += first;
      if (first != last) inside.append("-").append(last);
      it = end;
    }
    if (!out.empty()) out += ',';
    out += prefix;
    if (inside.empty()) ++it;  // the bare prefix is the name
    out += several ? fmt::format("[{}]", inside) : inside;
  }
  return out;
}

std::vector<std::uint32_t> natural_order(const std::vector<std::string_view>& names) {
  std::vector<Split> splits;
  splits.reserve(names.size());
  for (const auto name : names) splits.emplace_back(name);
  const auto ranks = ranks_of(splits);
  std::vector<Key> keys;
  keys.reserve(names.size());
  const std::string_view* last = nullptr;
  std::uint32_t rank = 0;
  for (const auto& split : splits) {
    if (last == nullptr || *last != split.prefix) rank = ranks.at(split.prefix);
    last = &split.prefix;
    keys.push_back({rank, static_cast<std::uint32_t>(split.digits.size()), number_of(split.digits),
                    static_cast<std::uint32_t>(keys.size())});
  }
  if (!std::ranges::is_sorted(keys)) std::ranges::sort(keys);
  std::vector<std::uint32_t> out;
  out.reserve(keys.size());
  for (const auto& key : keys) out.push_back(key.at);
  return out;
}

bool natural_less(std::string_view a, std::string_view b) { return split_less(Split(a), Split(b)); }

}  // namespace espalier::slurm
