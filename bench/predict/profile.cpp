// SPDX-License-Identifier: MIT
#include "bench/predict/profile.hpp"

#include <fmt/format.h>

namespace ddlrun::bench_predict {
namespace {

constexpr std::size_t equal_layers = 16;
constexpr double forward_part = 1.0 / 3.0;  // the backward pass multiplies twice

}  // namespace

double layers_ms(const StepProfile& profile) {
  double ms = 0.0;
  for (const ProfileLayer& layer : profile.layers) ms += layer.forward_ms + layer.backward_ms;
  return ms;
}

double alone_ms(const StepProfile& profile) {
  return profile.input_ms + layers_ms(profile) + profile.rest_ms + profile.check_ms + profile.update_ms;
}

StepProfile spread_step(const BareStep& step) {
  StepProfile profile;
  profile.net = step.net;
  profile.source = step.source;
  profile.ranks_a_host = step.ranks_a_host;
  profile.threads = step.threads;
  profile.images = step.images;
  profile.parameters = step.parameters;
  profile.input_ms = step.input_ms;
  profile.update_ms = step.other_ms;
  profile.host_sum_ms = step.host_sum_ms;
  profile.one_rank_step_ms = step.one_rank_step_ms;
  ProfileSchedule all{"after each step", false, 0, {{0, step.parameters}}};
  ProfileSchedule each{
      fmt::format("{} equal buckets, while computing", equal_layers), true, equal_layers - 1, {}};
  for (std::size_t i = 0; i < equal_layers; ++i) {
    const ProfileRange range{i * step.parameters / equal_layers, (i + 1) * step.parameters / equal_layers};
    const double ms = step.compute_ms / equal_layers;
    profile.layers.push_back({fmt::format("{}", i), range, ms * forward_part, ms * (1.0 - forward_part)});
    each.buckets.insert(each.buckets.begin(), range);
  }
  profile.schedules = {all, each};
  profile.narrow_schedules = {each};
  return profile;
}

}  // namespace ddlrun::bench_predict
