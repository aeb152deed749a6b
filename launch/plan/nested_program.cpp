// SPDX-License-Identifier: MIT
#include "launch/plan/nested_program.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/nested_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ddlrun::launch {

namespace {

// What mpirun is asked for, in the words of `own`: "-np 4 --hostfile h" for launch, "4x1" for submit.
std::string render_count(const frameworks::NestedLauncher& nested, const OwnLine& own) {
  if (own.command == "ddlrun launch") return nested.shape.empty() ? "-np N" : render_shell(nested.shape);
  const auto count = std::ranges::find(nested.shape, "-np");
  return count == nested.shape.end() ? "DIMS" : quote_shell(*(count + 1)) + "x1";
}

// The program behind all its launchers: "python3 t.py" of "srun torchrun t.py".
std::string render_inner(const frameworks::NestedLauncher& nested) {
  Command program = nested.program;
  while (const auto more = frameworks::find_nested_launcher(program)) program = more->program;
  return program.empty() ? "PROGRAM" : render_shell(program);
}

// One torchrun on each host that does not know of the others.
void check_one_training(const frameworks::NestedLauncher& nested, const Command& program, std::size_t hosts,
                        const OwnLine& own) {
  if (hosts < 2 || !nested.forgets_hosts) return;
  const std::string inner = nested.program.empty() ? "PROGRAM" : render_shell(nested.program);
  const auto count =
      nested.processes.empty() ? std::optional<std::uint64_t>(1) : parse_unsigned(nested.processes);
  Command alone = program;
  const auto at = std::ranges::find(alone, nested.name,
                                    [](const std::string& word) { return word.substr(word.rfind('/') + 1); });
  if (at != alone.end()) alone.insert(at + 1, "--standalone");
  throw Error(
      ErrorKind::request,
      {fmt::format("{0} has no --nnodes, so it starts a training of its own on each of {1} hosts, not one "
                   "on all",
                   nested.name, hosts),
       "the program after --",
       fmt::format("{} {}x{}{} -- {}; a training on each host: {}", own.command,
                   count ? std::to_string(*count) : "N", hosts,
                   own.command == "ddlrun launch" ? " HOSTS" : "", inner, render_shell(alone))});
}

}  // namespace

void check_not_nested(const Command& program, std::size_t ranks, std::size_t hosts, const OwnLine& own) {
  const auto nested = frameworks::find_nested_launcher(program);
  if (!nested || (ranks < 2 && !nested->of_mpi)) return;
  if (nested->stays_on_host && ranks == hosts) return check_one_training(*nested, program, hosts, own);
  const std::string inner = render_inner(*nested);
  if (ranks < 2) {
    throw Error(
        ErrorKind::request,
        {fmt::format("{} starts ranks itself, and it would be the only rank of the job; Open MPI's "
                     "mpirun refuses to be started by a rank",
                     nested->name),
         "the program after --", fmt::format("{} {} -- {}", own.command, render_count(*nested, own), inner)});
  }
  const std::string shape = own.has_shape || nested->shape.empty() ? "" : " " + render_shell(nested->shape);
  throw Error(ErrorKind::request,
              {fmt::format("{} starts ranks itself: each of {} ranks would start all of them again",
                           nested->name, ranks),
               "the program after --", fmt::format("{}{} -- {}", own.words, shape, inner)});
}

}  // namespace ddlrun::launch
