// SPDX-License-Identifier: MIT
#include "cli/commands/commands.hpp"

namespace ddlrun::cli {

const std::vector<Subcommand>& subcommands() {
  static const std::vector<Subcommand> all = {
      topo_command(),          gen_rankfile_command(), check_rankfile_command(), launch_command(),
      intelcaffe_command(),    top_command(),          history_command(),        report_command(),
      replay_command(),        bench_command(),        doctor_command(),         diagnose_command(),
      submit_command(),        resubmit_command(),     status_command(),         logs_command(),
      wait_command(),          cancel_command(),       jobs_command(),           lint_script_command(),
      convert_command(),       config_command(),       exec_command(),           agent_command(),
      read_topology_command(), ssh_launch_command(),   ssh_daemon_command(),
  };
  return all;
}

}  // namespace ddlrun::cli
