// SPDX-License-Identifier: MIT
#include "cli/completion.hpp"

#include "base/text/completion.hpp"
#include "cli/candidate_sources.hpp"
#include "cli/describe_command.hpp"

#include <algorithm>
#include <span>

namespace ddlrun::cli {

namespace {

std::vector<Candidate> command_names(bool with_help) {
  std::vector<Candidate> names;
  for (const Subcommand& command : subcommands())
    if (!command.hidden) names.push_back({std::string(command.name), std::string(command.summary)});
  if (with_help) names.push_back({"help", "describe a command"});
  return names;
}

// Behind "--" options without a program go to the trainer, those of `bench allreduce` to ddl-bench.
std::string implied_program(std::span<const std::string> words, std::size_t first) {
  const auto command = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "launch" || word == "bench" || word == "--";
  });
  if (first >= words.size() || !words[first].starts_with('-') || *command == "--") return {};
  const bool sums = *command == "bench" && std::find(words.begin(), words.end(), "allreduce") != words.end();
  return sums ? "ddl-bench" : "ddl-train";
}

Completion complete_program(System& system, std::span<const std::string> words) {
  const auto source = [&system](std::string_view name) { return find_candidates(system, name); };
  // Options of all commands may come first: "ddlrun -v launch".
  std::size_t at = 0;
  while (at + 1 < words.size() && words[at].starts_with('-')) ++at;
  if (at + 1 >= words.size()) {
    Completion completion = complete_command(describe_program(), words, source);
    if (!words.empty() && !words.back().starts_with('-'))
      completion.candidates = select_candidates(command_names(true), words.back());
    return completion;
  }
  if (words[at] == "help") {
    Completion completion;
    if (at + 2 == words.size()) completion.candidates = select_candidates(command_names(false), words.back());
    return completion;
  }
  for (const Subcommand& command : subcommands()) {
    if (command.hidden || command.name != words[at]) continue;
    Completion completion = complete_command(describe_command(command), words.subspan(at + 1), source);
    if (completion.kind == "program") {
      completion.program += at + 1;
      completion.implied = implied_program(words, completion.program);
    }
    return completion;
  }
  return {};
}

}  // namespace

int run_completion(System& system, const std::vector<std::string>& words) {
  system.out(render_completion(complete_program(system, words)));
  return 0;
}

}  // namespace ddlrun::cli
