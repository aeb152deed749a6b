// SPDX-License-Identifier: MIT
#include "cli/rank_start.hpp"

#include "base/error.hpp"
#include "base/posix_rank.hpp"
#include "base/text.hpp"
#include "launch/ssh_start.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ddlrun::cli {

RankStart plan_rank_start(const launch::HostDocument& host, const launch::SheetRank& rank,
                          const std::string& ddlrun) {
  RankStart start;
  launch::RankProgram program = host.program;
  program.ddlrun = ddlrun;
  if (!rank.group->program.empty()) program.program = rank.group->program;
  for (const std::string& argument : rank.group->arguments) {
    program.program.push_back(launch::fill_words(argument, rank));
  }
  start.command = launch::plan_rank_command(program);
  start.variables = host.values;
  for (const launch::SheetVariable& variable : rank.group->variables) {
    start.variables[variable.name] = launch::fill_words(variable.value, rank);
  }
  for (const auto& [name, value] : launch::rank_identity_variables(rank)) start.variables[name] = value;
  start.folder = host.sheet.working_folder;
  if (host.sheet.bind && rank.seat != nullptr) start.pus = rank.seat->pus;
  return start;
}

bool take_rank_place(const RankStart& start, const std::function<void(std::string_view)>& err) {
  if (const int code = enter_folder(start.folder); code != 0) {
    err(render_error("ddlrun", {fmt::format("cannot enter the working folder: {}", std::strerror(code)),
                                printable(start.folder), "ls -ld " + quote_shell(start.folder)}));
    return false;
  }
  if (const int code = bind_self(start.pus); code != 0) {
    err(render_message(
        "ddlrun", "warning",
        {fmt::format("cannot run on processors {}: {}", render_ranges(start.pus), std::strerror(code)), "",
         "ddlrun topo on that host; a container may allow fewer"}));
  }
  return true;
}

}  // namespace ddlrun::cli
