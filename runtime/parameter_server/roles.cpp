// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/roles.hpp"

#include "base/text/error.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ddlrun::runtime {
namespace {

Error refuse_roles(std::string what, std::string hint) {
  return {ErrorKind::usage, {std::move(what), "command line", std::move(hint)}};
}

}  // namespace

void check_roles(const ServerRoles& roles, std::size_t ranks) {
  if (roles.servers == 0 || roles.servers >= ranks) {
    throw refuse_roles(
        fmt::format("{} parameter server(s) of {} rank(s) leave no worker", roles.servers, ranks),
        ranks > 1 ? fmt::format("--parameter-servers {}, or more ranks", ranks - 1)
                  : "mpirun -n 2 ddl-train --parameter-servers 1");
  }
}

void check_servers(const TrainPlan& plan, const ServerRoles& roles, std::size_t ranks) {
  check_roles(roles, ranks);
  if (needs_norms(plan.optimizer)) {
    const bool lars = plan.optimizer.kind == OptimizerKind::lars;
    throw refuse_roles(
        fmt::format("{} needs norms of whole tensors, but a parameter server holds only a shard",
                    lars ? "--optimizer lars" : "--clip"),
        lars ? "--optimizer sgd" : "the same command without --clip");
  }
  if (plan.accumulate != 1) {
    throw refuse_roles(
        fmt::format(
            "--gradient-accumulation {} cannot be used with --parameter-servers: a worker pushes each batch",
            plan.accumulate),
        fmt::format("--batch-size with {} times as many images", plan.accumulate));
  }
}

}  // namespace ddlrun::runtime
