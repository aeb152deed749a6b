// SPDX-License-Identifier: MIT
// One function per subcommand; a new command is one file here and one line in commands.cpp.
#pragma once

#include "cli/command.hpp"

namespace ddlrun::cli {

Subcommand top_command();
Subcommand topo_command();
Subcommand read_topology_command();
Subcommand gen_rankfile_command();
Subcommand check_rankfile_command();
Subcommand launch_command();
Subcommand intelcaffe_command();
Subcommand bench_command();
Subcommand doctor_command();
Subcommand diagnose_command();
Subcommand submit_command();
Subcommand resubmit_command();
Subcommand status_command();
Subcommand logs_command();
Subcommand wait_command();
Subcommand cancel_command();
Subcommand jobs_command();
Subcommand lint_script_command();
Subcommand convert_command();
Subcommand config_command();
Subcommand history_command();
Subcommand replay_command();
Subcommand report_command();
Subcommand exec_command();
Subcommand ssh_launch_command();
Subcommand ssh_daemon_command();
Subcommand agent_command();

}  // namespace ddlrun::cli
