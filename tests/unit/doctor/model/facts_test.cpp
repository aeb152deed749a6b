// SPDX-License-Identifier: MIT
#include "doctor/model/facts.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;

namespace {

Facts plain_facts() {
  Facts facts;
  facts.set("net.eth0.mtu", "1500");
  facts.set("net.ib0.mtu", "4092");
  facts.set("limit.memlock.soft", "unlimited");
  facts.set_unknown("gpu.count", "no driver");
  return facts;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/model/facts");

TEST_CASE("facts that share a base read as before") {
  const auto base = std::make_shared<const FactMap>(plain_facts().all());
  Facts other;
  other.set("net.eth0.mtu", "9000");
  other.set("net.eth1.mtu", "1500");
  other.set("limit.memlock.soft", "unlimited");
  other.set_unknown("gpu.count", "no driver");
  Facts shared = other;
  shared.share(base);
  CHECK(shared.own().size() == 2);
  CHECK(shared.without().size() == 1);
  CHECK(shared == other);
  CHECK(shared.all() == other.all());
  CHECK(shared.text("net.eth0.mtu") == "9000");
  CHECK(shared.text("limit.memlock.soft") == "unlimited");
  CHECK(!shared.has("net.ib0.mtu"));
  CHECK(shared.why_missing("net.ib0.mtu") == "not gathered");
  CHECK(shared.why_missing("gpu.count") == "no driver");
  CHECK(shared.segments("net.") == std::vector<std::string>{"eth0", "eth1"});
  shared.set("net.ib0.mtu", "2044");
  CHECK(shared.text("net.ib0.mtu") == "2044");
  Facts merged;
  merged.merge(shared);
  CHECK(merged.all() == shared.all());
}

TEST_CASE("facts of another kind of machine share nothing") {
  const auto base = std::make_shared<const FactMap>(plain_facts().all());
  Facts other;
  for (const char* name : {"a", "b", "c", "d"}) other.set(name, "1");
  other.share(base);
  CHECK(other.base() == nullptr);
  CHECK(other.own().size() == 4);
}

TEST_SUITE_END();
