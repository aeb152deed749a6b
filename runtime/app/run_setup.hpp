// SPDX-License-Identifier: MIT
// Everything a rank sets up before training: roles, device, data, net, plan; compared over all ranks.
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
  std::optional<ServerRoles> roles;  // empty: no parameter servers
  RunDevice device;
  Dataset data;
  Net net;
  TrainPlan plan;
  RunFacts facts;
  RunIdentity identity;
  std::string batch_choice;  // BatchPlan's, and its --lr
  double lr = 0.0;
  std::vector<Message> notes;  // warnings, printed before the first step
};

// Collective. Throws CollectiveError, also if data, net or options differ between ranks.
RunSetup set_up_run(const TrainOptions& options, const CaffeCommand& caffe, Communicator& ranks);

}  // namespace ddlrun::runtime
