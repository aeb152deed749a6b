// SPDX-License-Identifier: MIT
// By hand, in ms: two layers of 1 + 2 each, 4 MB of gradients that take 10 between two hosts.
#include "bench/predict/step_model.hpp"

#include <doctest/doctest.h>

namespace ddlrun::bench_predict {
namespace {

constexpr Network ten_ms{4e8, 0.0, 0.0};
const SumShape two_hosts{{2}, 1};

StepProfile two_layers() {
  StepProfile profile;
  profile.parameters = 1000000;
  profile.layers = {
      {"a", {0, 250000}, 1, 2}, {"relu", {250000, 250000}, 0, 0}, {"b", {250000, 1000000}, 1, 2}};
  return profile;
}
ProfileSchedule after() { return {"after", false, 0, {{0, 1000000}}}; }
ProfileSchedule while_computing() { return {"while", true, 1, {{250000, 1000000}, {0, 250000}}}; }
ProfileSchedule across() { return {"across", true, 0, {{0, 250000}, {250000, 1000000}}}; }

StepForecast simulated(const StepProfile& profile, const ProfileSchedule& schedule,
                       const Network& network = ten_ms) {
  return simulate_step(profile, schedule, two_hosts, network);
}

}  // namespace
TEST_SUITE_BEGIN("bench/predict/step_model");

TEST_CASE("sums after each step: 6 + 10") {
  const StepForecast step = simulated(two_layers(), after());
  CHECK(step.step_ms == doctest::Approx(16));
  CHECK(step.exposed_ms == doctest::Approx(10));
  CHECK(step.wire_ms == doctest::Approx(10));
}

TEST_CASE("while computing: layer b is ready at 4 and travels until 11.5, layer a until 14") {
  const StepForecast step = simulated(two_layers(), while_computing());
  CHECK(step.step_ms == doctest::Approx(14));
  CHECK(step.exposed_ms == doctest::Approx(8));
}

TEST_CASE("across steps: the next forward pass of layer b waits 6.5, the end of the step 2.5") {
  const StepForecast step = simulated(two_layers(), across());
  CHECK(step.step_ms == doctest::Approx(15));
  CHECK(step.exposed_ms == doctest::Approx(9));
}

TEST_CASE("the metadata shift the gradients: a bucket is ready when its first layer is") {
  StepProfile profile = two_layers();
  profile.metadata = 16;
  const ProfileSchedule schedule{"while", true, 1, {{250016, 1000016}, {0, 250016}}};
  CHECK(simulated(profile, schedule).step_ms == doctest::Approx(14).epsilon(1e-4));
}

TEST_CASE("an update of 1 runs beside the wire but for one of 62 chunks, and waits for no other rank") {
  StepProfile profile = two_layers();
  profile.update_ms = 1;
  const StepForecast step = simulated(profile, after());
  CHECK(step.step_ms == doctest::Approx(16 + 1.0 / 62));
  CHECK(step.exposed_ms == doctest::Approx(9 + 1.0 / 62));
}

TEST_CASE("the communication thread takes its time from the threads that compute") {
  StepProfile profile = two_layers();
  // 46 chunks of 64 KiB in 3 MB, 4 messages each: 184 of 5 us, 0.92 ms; on two threads 0.46 of layer a's
  // pass.
  profile.threads = 2;
  const StepForecast step = simulated(profile, while_computing(), {4e12, 0.0, 5e-6});
  // 6 + 0.46, and layer a's own sum: 16 chunks, 64 messages of 5 us.
  CHECK(step.step_ms == doctest::Approx(6 + 0.46 + 0.32));
}

TEST_CASE("the input and what is in no layer lengthen each step; a slower host its computing only") {
  StepProfile profile = two_layers();
  profile.rest_ms = 0.5;
  profile.check_ms = 0.25;
  CHECK(simulated(profile, after()).step_ms == doctest::Approx(16.75));
  CHECK(simulate_step(profile, after(), two_hosts, ten_ms, 2.0).step_ms == doctest::Approx(10 + 2 * 6.75));
}

TEST_CASE("several ranks of a host: their sums within the host run beside the wire") {
  StepProfile profile = two_layers();
  profile.host_sum_ms = 12;
  const SumShape shape{{2}, 4};
  // A slice of 1 MB: chunks of 2 * 31250 bytes, 16 of them.
  CHECK(simulate_step(profile, after(), shape, ten_ms).step_ms == doctest::Approx(6 + 12 + 10.0 / 16));
  CHECK(simulate_step(profile, after(), {{1}, 4}, ten_ms).step_ms == doctest::Approx(18));
  CHECK(simulated(profile, after()).step_ms == doctest::Approx(16));  // one rank has no host to sum with
}

TEST_CASE("the fastest schedule is kept; the first one unless another is 2 % faster") {
  StepProfile profile = two_layers();
  profile.schedules = {after(), across(), while_computing()};
  CHECK(forecast_step(profile, two_hosts, ten_ms).schedule == "while");
  CHECK(forecast_step(profile, two_hosts, {4e13, 0.0, 0.0}).schedule == "after");
  profile.narrow_schedules = {after()};
  CHECK(forecast_step(profile, {{2}, 1, true}, ten_ms).step_ms == doctest::Approx(11));
}

TEST_SUITE_END();

}  // namespace ddlrun::bench_predict
