// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_losses.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace ddlrun::job_scripts {

namespace {

// Where the command, its assignments and its redirections begin and end in their line.
std::pair<std::size_t, std::size_t> extent_of(const ShellCommand& command) {
  std::size_t begin = std::string::npos, end = 0;
  for (const auto* words : {&command.assignments, &command.words, &command.redirections})
    for (const ShellWord& word : *words) {
      begin = std::min(begin, word.at);
      end = std::max(end, word.end);
    }
  return {std::min(begin, end), end};
}

// The one file that `tee` writes; "" for another command.
std::string tee_file(const ShellCommand& command) {
  if (command.base_name() != "tee") return {};
  std::string file;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    if (word.starts_with('-')) continue;
    if (!file.empty()) return {};
    file = word;
  }
  return file.find_first_of("$`") == std::string::npos ? file : "FILE";
}

}  // namespace

bool can_carry_requeue(const JobScript& script, const ResourceRequest& request) {
  return request.requeue.value_or(false) && (script.dialect == Dialect::slurm || !request.array);
}

std::vector<Unsupported> find_losses(const JobScript& script, const ResourceRequest& request) {
  std::vector<Unsupported> losses;
  const auto leave = [&](std::string text, std::string why, bool wrong) {
    losses.push_back({0, std::move(text), std::move(why), wrong});
  };
  if (!request.not_hosts.empty())
    leave("without " + request.not_hosts, "no key; try directives: [\"--exclude=...\"]", true);
  if (!request.error.empty() && request.error != request.output)
    leave("a file for stderr", "both streams go to the output", false);
  if (can_carry_requeue(script, request))
    leave("requeue",
          "requeue: yes also starts the job again, at most 3 times, when the program exits with 75, or with "
          "another failure after `signal`",
          false);
  else if (request.requeue.value_or(false))
    leave("requeue", "the tasks of an array of PBS have no key for it", true);
  if (request.hold) leave("hold", "no key: the job is queued at once", true);
  if (!request.begin.empty()) leave("begin " + request.begin, "no key; try directives", true);
  if (request.priority) leave(fmt::format("priority {}", *request.priority), "no key; try directives", true);
  if (request.exported == Export::all && script.dialect == Dialect::pbs)
    leave("-V",
          "the whole environment is not passed on: environment: [NAME, NCCL_*] names what the ranks need",
          false);
  return losses;
}

std::vector<Unsupported> find_surroundings(const ScriptLine& line, const std::vector<ShellCommand>& commands,
                                           std::size_t at, bool is_in_compound) {
  constexpr std::string_view only_program =
      "only the started program is carried over, not what stands around it";
  std::vector<Unsupported> losses;
  const auto [begin, end] = extent_of(commands[at]);
  std::size_t last = at;  // of its pipeline
  while (commands[last].piped && last + 1 < commands.size()) ++last;
  const std::size_t pipe_end = extent_of(commands[last]).second;
  const auto leave = [&](std::size_t from, std::size_t to, std::string why, bool wrong) {
    std::string_view text = trim(std::string_view(line.text).substr(from, to - from));
    if (text.ends_with(';') || text.ends_with('&'))
      text = trim(text.substr(0, text.size() - (text.ends_with("&&") ? 0 : 1)));
    if (!text.empty()) losses.push_back({line.line, std::string(text), std::move(why), wrong});
  };
  if (!is_in_compound) leave(0, begin, std::string(only_program), true);
  const std::string file = last == at + 1 ? tee_file(commands[last]) : "";
  if (file.empty())
    leave(end, pipe_end, std::string(only_program), true);
  else
    leave(end, pipe_end, fmt::format("the output goes to the job's log; output: {} puts that there", file),
          false);
  if (!is_in_compound) leave(pipe_end, line.text.size(), std::string(only_program), true);
  return losses;
}

}  // namespace ddlrun::job_scripts
