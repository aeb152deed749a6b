// SPDX-License-Identifier: MIT
// `ddlrun wait ID...`: stays until the jobs are over and ends with their status.
#include "base/text/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/run_ids.hpp"
#include "schedulers/client/job_follow.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::string_view wait_examples =
    R"(  ddlrun wait 1234 && ./evaluate     # evaluate if job 1234 succeeds
  ddlrun wait 1234 1235              # exit status of the first job that failed)";

int run_wait(System& system, const std::vector<std::string>& ids) {
  if (ids.empty())
    throw Error(ErrorKind::usage, {"wait for which job?", "", "ddlrun wait ID; ddlrun jobs lists yours"});
  FollowOptions options;
  options.log = false;
  refuse_run_ids(ids, "wait");
  return follow_jobs(system, find_jobs(system, ids), options);
}

}  // namespace

Subcommand wait_command() {
  Subcommand command;
  command.name = "wait";
  command.summary = "wait for jobs; the exit status is that of the first failed job";
  command.examples = wait_examples;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto ids = std::make_shared<std::vector<std::string>>();
    app.add_option("ID", *ids, "job ids as printed by ddlrun submit, or last");
    return [ids](System& system) { return run_wait(system, *ids); };
  };
  return command;
}

}  // namespace ddlrun::cli
