// SPDX-License-Identifier: MIT
// What `ddlrun ssh-launch` reads: all that a start without MPI needs, but values of variables, which it
// takes from its own environment; and what it sends each host over ssh's stdin, with values. Pure.
#pragma once

#include "launch/rank/rank_command.hpp"
#include "launch/rank/rank_map.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

struct SshLaunchSpec {
  RankMap rank_map;                              // with a working directory
  RankProgram program;                           // for groups that have none; `ddlrun` is each host's own
  std::vector<std::string> exported;             // names
  std::map<std::string, std::string> addresses;  // of hosts that ssh reaches by another name
  std::string ssh = "ssh";
  std::vector<std::string> ssh_arguments;
  int grace_ms = 2000;  // from TERM to KILL
};

// The same for all hosts, so that it is rendered once; each host also gets its index.
struct SshHostSpec {
  RankMap rank_map;
  RankProgram program;
  EnvVars values;  // of what is exported, and of the other variables that reach all hosts
  int grace_ms = 2000;
};

// "schema": "ddlrun.start/1". Words that are no UTF-8 are written as {"hex": "c3"}.
std::string render_ssh_launch_spec(const SshLaunchSpec& document);
// Error{request} with the place in the text for anything it does not know, or that cannot be started.
SshLaunchSpec parse_ssh_launch_spec(std::string_view text);

// "schema": "ddlrun.host/1". It holds values: for stdin only, never for a file or a command line.
std::string render_ssh_host_spec(const SshHostSpec& document);
SshHostSpec parse_ssh_host_spec(std::string_view text);

}  // namespace ddlrun::launch
