// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_losses.hpp"

#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"
#include "schedulers/scripts/job_file_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace ddlrun::job_scripts {

bool can_carry_requeue(const JobScript& script, const ResourceRequest& request) {
  return request.requeue.value_or(false) && (script.dialect == Dialect::slurm || !request.array);
}

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

constexpr std::uint64_t least_plausible_mib = 1024;  // a bare --mem below it: another unit was meant

class LossFinder {
 public:
  LossFinder(const JobScript& script, const ResourceRequest& request, const std::string& scheduler)
      : script_(script),
        request_(request),
        scheduler_(scheduler),
        keeps_(script.dialect == Dialect::slurm ? scheduler == "slurm"
                                                : scheduler == "pbs" || scheduler == "torque") {}

  Losses find(bool has_comment) {
    for (const Unsupported& item : request_.unsupported)
      if (item.directive.empty())
        losses_.notes.push_back(item);
      else if (keeps_)
        keep(item.line, item.text, item.directive);
      else
        leave(item.line, item.text, fmt::format("no counterpart in {}", scheduler_), false);
    keep_or_leave("exclude", 0, "hosts: [NAME, ...] names those that the job may use", true);
    if (!has_comment) keep_or_leave("comment", 0, "left out", false);
    keep_or_leave("begin", 'a', "ddlrun submit at that time", true);
    keep_or_leave("hold", 'h', "the job is queued at once", true);
    keep_or_leave("nice", 'p', "left out", true);
    find_unread();
    find_streams_and_requeue();
    find_mail();
    find_environment();
    find_memory();
    return std::move(losses_);
  }

 private:
  void leave(int line, std::string text, std::string why, bool wrong) {
    losses_.notes.push_back({line, std::move(text), std::move(why), wrong});
  }
  void keep(int line, std::string text, const std::string& directive) {
    leave(line, std::move(text), "no key: kept in directives, which ddlrun does not check", false);
    losses_.directives.push_back(directive);
  }

  // The last directive that sets the option, as its scheduler takes it.
  const Directive* directive_of(std::string_view slurm_name, char pbs_letter) const {
    const Directive* found = nullptr;
    for (const Directive& directive : script_.directives) {
      const bool is_it = script_.dialect == Dialect::slurm
                             ? slurm_option_name(directive.option) == slurm_name
                             : pbs_letter != 0 && directive.option == std::string("-") + pbs_letter;
      if (is_it) found = &directive;
    }
    return found;
  }

  void keep_or_leave(std::string_view slurm_name, char pbs_letter, std::string_view next, bool wrong) {
    const Directive* const directive = directive_of(slurm_name, pbs_letter);
    if (directive == nullptr) return;
    const std::string text = directive_text(*directive);
    const std::string shown = text.empty() ? directive->option + " " + directive->value : text;
    if (keeps_ && !text.empty()) return keep(directive->line, shown, text);
    leave(directive->line, shown,
          keeps_ ? fmt::format("no key: directives: ['{} ...'] takes it with its quotes", directive->option)
                 : fmt::format("no key: {}", next),
          wrong);
  }

  void find_unread() {
    int last = 0;
    for (const Directive& directive : script_.ignored_directives) {
      if (directive.line == last) continue;
      last = directive.line;
      leave(last, script_.lines[static_cast<std::size_t>(last) - 1],
            "not read by the scheduler that the script was for: left out", false);
    }
  }

  void find_streams_and_requeue() {
    if (!request_.error.empty() && request_.error != request_.output)
      leave(0, "a file for stderr", "both streams go to the output", false);
    if (can_carry_requeue(script_, request_))
      leave(
          0, "requeue",
          "requeue: yes also starts the job again, at most 3 times, when the program exits with 75, or with "
          "another failure after `signal`",
          false);
    else if (request_.requeue.value_or(false))
      leave(0, "requeue", "the tasks of an array of PBS have no key for it", true);
  }

  // Without an address the scheduler writes to who submits; the key mail wants one.
  void find_mail() {
    const bool wanted = request_.mail_begin || request_.mail_end || request_.mail_fail;
    const Directive* const directive = directive_of("mail-type", 'm');
    if (!request_.mail_user.empty() || !wanted || directive == nullptr) return;
    const std::string text = directive_text(*directive);
    if (keeps_) return keep(directive->line, text, text);
    leave(directive->line, text, "no address: left out; mail: ADDRESS", false);
  }

  void find_environment() {
    const Directive* const directive = directive_of("export", 0);
    if (request_.exported == Export::none && directive != nullptr)
      leave(directive->line, directive_text(*directive),
            "left out: the job has the environment of the shell that submits; with little in it: env -i "
            "HOME=\"$HOME\" PATH=\"$PATH\" ddlrun submit",
            false);
    if (request_.exported == Export::all && script_.dialect == Dialect::pbs)
      leave(0, "-V",
            "the whole environment is not passed on: environment: [NAME, NCCL_*] names what the ranks need",
            false);
  }

  void find_memory() {
    for (const char* name : {"mem", "mem-per-cpu", "mem-per-gpu"}) {
      const Directive* const directive = directive_of(name, 0);
      const auto number =
          directive == nullptr ? std::nullopt : parse_unsigned(directive->value, least_plausible_mib - 1);
      if (number && *number > 0)
        leave(directive->line, directive_text(*directive),
              fmt::format("means {0} MiB, as Slurm reads it; if GiB were meant, --{1}={0}G", *number, name),
              false);
    }
  }

  const JobScript& script_;
  const ResourceRequest& request_;
  const std::string& scheduler_;
  const bool keeps_;
  Losses losses_;
};

}  // namespace

Losses find_losses(const JobScript& script, const ResourceRequest& request, const std::string& scheduler,
                   bool has_comment) {
  return LossFinder(script, request, scheduler).find(has_comment);
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
  const bool ends_behind = find_end_of_script(commands) <= last + 1;
  if (!is_in_compound && !ends_behind) leave(pipe_end, line.text.size(), std::string(only_program), true);
  return losses;
}

}  // namespace ddlrun::job_scripts
