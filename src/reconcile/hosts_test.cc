#include "reconcile/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace espalier::reconcile {
namespace {

using Map = std::map<std::string, std::string>;

HostsBook::Hosts hosts_of(const Map& map) {
  HostsBook::Hosts hosts;
  for (const auto& [name, address] : map) hosts.push_back({name, address});
  return hosts;
}

Map apply(Map map, const agent::HostsDelta& delta) {
  for (const auto& name : delta.drop) map.erase(name);
  for (const auto& entry : delta.put) map[entry.name] = entry.address;
  return map;
}

TEST(HostsBook, NoChangeIsNoVersion) {
  HostsBook book;
  EXPECT_TRUE(book.update({}));
  EXPECT_TRUE(book.update({{"a", "10.0.0.1"}}));
  EXPECT_FALSE(book.update({{"a", "10.0.0.1"}}));
  EXPECT_EQ(book.version(), 2);
}

TEST(HostsBook, IsEncodedOnceAVersion) {
  HostsBook book;
  EXPECT_FALSE(book.encoded());
  book.update({{"a", "10.0.0.1"}});
  const auto encoded = book.encoded();
  EXPECT_EQ(*encoded, R"({"hosts":[{"name":"a","address":"10.0.0.1"}]})");
  EXPECT_EQ(book.encoded(), encoded) << "the same text, not another like it";
  book.update({});
  EXPECT_EQ(*book.encoded(), R"({"hosts":[]})");
}

TEST(HostsBook, WhoHasNothingGetsAll) {
  HostsBook book;
  book.update({{"a", "10.0.0.1"}});
  EXPECT_FALSE(book.since(0));
  EXPECT_TRUE(book.since(1)->put.empty());
}

TEST(HostsBook, WhoIsFarBehindGetsAll) {
  HostsBook book;
  for (int i = 0; i < 100; ++i) book.update({{"a", std::to_string(i)}});
  EXPECT_FALSE(book.since(1));
  EXPECT_EQ(book.since(99)->put.at(0).address, "99");
}

RC_GTEST_PROP(HostsBook, ADeltaLeadsFromAnyVersionToNow, ()) {
  // Pairs of a name and an address; of a name that comes twice the last counts.
  const auto versions = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::vector<std::pair<unsigned, unsigned>>>>(
      rc::gen::container<std::vector<std::pair<unsigned, unsigned>>>(
          rc::gen::pair(rc::gen::inRange(0U, 6U), rc::gen::inRange(0U, 3U)))));
  HostsBook book;
  std::map<std::int64_t, Map> had;
  for (const auto& pairs : versions) {
    Map version;
    for (const auto& [name, address] : pairs) version["n" + std::to_string(name)] = "10.0.0." + std::to_string(address);
    book.update(hosts_of(version));
    had[book.version()] = version;
  }
  for (const auto& [version, map] : had)
    if (const auto delta = book.since(version)) RC_ASSERT(apply(map, *delta) == had.rbegin()->second);
}

}  // namespace
}  // namespace espalier::reconcile
