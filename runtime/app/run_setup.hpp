// SPDX-License-Identifier: MIT
// What a rank finds before it trains: images, net, plan, and what is told of them; compared over all ranks.
#pragma once

#include "runtime/app/device.hpp"
#include "runtime/app/train_options.hpp"
#include "runtime/caffe/caffe_options.hpp"
#include "runtime/checkpoint/checkpoint.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/parameter_server/roles.hpp"
#include "runtime/telemetry/metrics.hpp"

#include <optional>
#include <vector>

namespace ddlrun::runtime {

struct RunSetup {
  std::optional<ServerRoles> roles;  // nothing: no parameter servers
  RunDevice device;
  Dataset data;
  Net net;
  TrainPlan plan;
  RunFacts facts;
  RunIdentity identity;
  std::vector<Message> notes;  // what is odd, and told before the first step
};

// Collective. Throws CollectiveError, also where ranks differ in what they found or were told.
RunSetup set_up_run(const TrainOptions& options, const CaffeCommand& caffe, Communicator& ranks);

}  // namespace ddlrun::runtime
