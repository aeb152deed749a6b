// SPDX-License-Identifier: MIT
#include "ddl/core/core_shortage.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <string>
#include <thread>

namespace ddl {
namespace {

TEST_SUITE_BEGIN("ddl/core/core_shortage");

std::string hint_beside() {
  std::string hint;
  std::thread([&] { hint = hint_core_shortage(); }).join();
  return hint;
}

TEST_CASE("a shortage is two threads of one process on one core") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(hint_core_shortage().empty());
  CHECK(hint_beside().find("two threads of this rank share one core") != std::string::npos);
  REQUIRE(sched_setaffinity(0, sizeof(before), &before) == 0);
  if (CPU_COUNT(&before) > 1) CHECK(hint_beside().empty());
}

TEST_SUITE_END();

}  // namespace
}  // namespace ddl
