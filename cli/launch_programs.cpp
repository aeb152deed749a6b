// SPDX-License-Identifier: MIT
#include "cli/launch_programs.hpp"

#include "base/error.hpp"
#include "launch/program_list.hpp"

namespace ddlrun::cli {

namespace {

constexpr std::uint64_t most_list_bytes = 1u << 20;

}  // namespace

void lay_programs(System& system, const LaunchOptions& options, launch::RankSheet& sheet) {
  if (options.programs.empty()) return;
  if (!options.program.empty()) {
    throw Error(ErrorKind::usage,
                {"a program is given beside the list of programs", "--programs and --", "one of the two"});
  }
  if (options.framework.chosen != frameworks::Framework::none) {
    throw Error(ErrorKind::usage,
                {"a framework arranges one program, a list has many", "--framework and --programs",
                 "variables of a list's ranks are its `set: {NAME: value}`"});
  }
  sheet.groups = launch::parse_program_list(system.files.read(options.programs, most_list_bytes),
                                            options.programs, sheet);
}

}  // namespace ddlrun::cli
