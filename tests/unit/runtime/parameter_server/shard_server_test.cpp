// SPDX-License-Identifier: MIT
// Who may go on, what an update makes of the weights, when all stop.
#include "runtime/parameter_server/shard_server.hpp"

#include <doctest/doctest.h>

#include <random>

namespace ddlrun::runtime {
namespace {

ServerPlan plan_of(std::size_t workers, bool asynchronous, std::size_t staleness = SIZE_MAX) {
  ServerPlan plan;
  plan.workers = workers;
  plan.asynchronous = asynchronous;
  plan.staleness = staleness;
  plan.schedule.peak = 0.5;
  plan.optimizer.momentum = 0.0;
  return plan;
}

ShardServer server_of(const ServerPlan& plan, std::size_t size) {
  const std::vector<ParamGroup> rates{{{0, 100}, 1.0, 1.0}};
  std::vector<std::vector<float>> state(state_names(plan.optimizer).size(), std::vector<float>(size, 0.0F));
  return {plan, {10, 10 + size}, rates, std::vector<float>(size, 1.0F), state};
}

using Workers = std::vector<std::size_t>;

}  // namespace
TEST_SUITE_BEGIN("runtime/parameter_server/shard_server");

// namespace

TEST_CASE("a synchronous server waits for all, and adds up before it updates") {
  ShardServer server = server_of(plan_of(3, false), 2);
  const std::vector<float> one{0.25F, 0.5F};
  const std::vector<float> two{0.5F, 1.0F};
  CHECK(server.push(2, one).empty());
  CHECK(server.push(0, one).empty());
  CHECK(server.weights()[0] == 1.0F);
  CHECK(server.push(1, two) == Workers{0, 1, 2});
  // 1 - 0.5 * (0.25 + 0.25 + 0.5) and 1 - 0.5 * (0.5 + 0.5 + 1)
  CHECK(server.weights()[0] == 0.5F);
  CHECK(server.weights()[1] == 0.0F);
  CHECK(server.updates() == 1);
}

TEST_CASE("an asynchronous server updates at once, and counts what came between") {
  ShardServer server = server_of(plan_of(2, true), 1);
  const std::vector<float> gradient{1.0F};
  CHECK(server.push(0, gradient) == Workers{0});
  CHECK(server.push(0, gradient) == Workers{0});
  CHECK(server.push(1, gradient) == Workers{1});  // two updates of the other since its first pull
  CHECK(server.weights()[0] == -0.5F);
  CHECK(server.staleness().pushes == 3);
  CHECK(server.staleness().sum == 2);
  CHECK(server.staleness().most == 2);
}

TEST_CASE("bounded staleness: the fast wait for the slow") {
  ShardServer server = server_of(plan_of(2, true, 1), 1);
  const std::vector<float> gradient{0.0F};
  CHECK(server.push(0, gradient) == Workers{0});     // 1 ahead
  CHECK(server.push(0, gradient) == Workers{});      // 2 ahead
  CHECK(server.push(1, gradient) == Workers{0, 1});  // 1 ahead
  CHECK(server.push(1, gradient) == Workers{1});
}

TEST_CASE("all stop at a step that each can reach") {
  ShardServer server = server_of(plan_of(3, true), 1);
  const std::vector<float> gradient{0.0F};
  for (const std::size_t worker : {0, 0, 0, 1}) server.push(worker, gradient);
  CHECK(server.stop() == 4);
  CHECK(server.stop() == 4);
  CHECK(server.done() == 0);
}

// In any order of pushes no one is forgotten: with bounded staleness somebody can always go on.
TEST_CASE("no order of pushes leaves all workers waiting") {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    const std::size_t workers = 1 + random() % 6;
    const bool asynchronous = random() % 2 == 0;
    ShardServer server = server_of(plan_of(workers, asynchronous, random() % 4), 1);
    const std::vector<float> gradient{0.0F};
    Workers able(workers);
    for (std::size_t i = 0; i < workers; ++i) able[i] = i;
    for (int push = 0; push < 300; ++push) {
      CAPTURE(run);
      REQUIRE(!able.empty());
      const std::size_t at = random() % able.size();
      const std::size_t worker = able[at];
      able.erase(able.begin() + static_cast<std::ptrdiff_t>(at));
      for (const std::size_t freed : server.push(worker, gradient)) able.push_back(freed);
    }
    CHECK(server.done() >= 300 / workers - 4);
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
