// Pages of a list. A token is opaque to clients; it holds the key of the last item shown, so that it survives a restart
// and pages stay right while items come and go, and it is good only for the query that it was made for.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace espalier::api {

inline constexpr int kPageDefault = 100;

// What a query's pages are bound to: everything of the request but NextToken and MaxResults.
std::string page_scope(std::string_view operation, const std::string& region, const json::object& input);

// Differs for each key. No secret: it names a place in a list that its holder may read anyway; the digest catches
// tokens that were cut, mistyped or taken from another query.
std::string make_token(const std::string& scope, const std::string& key);
// The key. kInvalid for a token that was not made for this scope.
Result<std::string> read_token(const std::string& scope, const std::string& token);

// Compares as text in the order of time.
std::string sortable(Time time);
// The same for numbers from 0.
std::string sortable(std::int64_t number);

// An item with its sort key, unique within the list.
template <typename T>
using Keyed = std::pair<std::string, T>;

template <typename T>
struct Page {
  std::vector<T> items;
  std::string next;  // token, "" at the end
};

// Leaves the first `most` items, in order; true when there were more. Sorts no more than it leaves.
template <typename T, typename Before>
bool cut(std::vector<T>& items, std::size_t most, Before before) {
  const bool more = items.size() > most;
  if (more) {
    std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(most), items.end(), before);
    items.resize(most);
  }
  std::sort(items.begin(), items.end(), before);
  return more;
}

// Cuts out of `all` the page that the request asks for (SortOrder, MaxResults, NextToken).
template <typename T>
Result<Page<T>> cut_page(std::vector<Keyed<T>> all, const std::string& scope, const std::string& token, bool descending,
                         std::size_t most) {
  const auto before = [descending](const std::string& a, const std::string& b) { return descending ? b < a : a < b; };
  if (!token.empty()) {
    const auto last = read_token(scope, token);
    if (!last) return tl::unexpected(last.error());
    std::erase_if(all, [&](const auto& item) { return !before(*last, item.first); });
  }
  const bool more = cut(all, most, [&](const auto& a, const auto& b) { return before(a.first, b.first); });
  Page<T> page;
  if (more) page.next = make_token(scope, all.back().first);
  for (auto& item : all) page.items.push_back(std::move(item.second));
  return page;
}

}  // namespace espalier::api
