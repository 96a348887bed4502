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

// Sorts `all` by key and cuts the page that the request asks for (SortOrder, MaxResults, NextToken).
template <typename T>
Result<Page<T>> cut_page(std::vector<Keyed<T>> all, const std::string& scope, const std::string& token, bool descending,
                         std::size_t most) {
  const auto before = [descending](const std::string& a, const std::string& b) { return descending ? b < a : a < b; };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return before(a.first, b.first); });
  auto from = all.begin();
  if (!token.empty()) {
    const auto last = read_token(scope, token);
    if (!last) return tl::unexpected(last.error());
    from = std::find_if(all.begin(), all.end(), [&](const auto& item) { return before(*last, item.first); });
  }
  Page<T> page;
  for (; from != all.end() && page.items.size() < most; ++from) {
    page.items.push_back(std::move(from->second));
    page.next = from->first;
  }
  page.next = from == all.end() ? "" : make_token(scope, page.next);
  return page;
}

}  // namespace espalier::api
