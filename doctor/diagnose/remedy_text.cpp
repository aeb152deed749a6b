// SPDX-License-Identifier: MIT
#include "doctor/diagnose/remedy_text.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

RemedyParts split_remedy(const std::string& remedy) {
  const std::size_t mark = std::min(remedy.find(comment_mark), remedy.size());
  return {remedy.substr(0, mark), remedy.substr(mark)};
}

std::vector<std::string> split_commands(std::string_view commands) {
  const bool is_one = has(commands, "; do ") || has_quotes(commands);
  std::vector<std::string> parts;
  while (!commands.empty()) {
    const std::size_t end = is_one ? commands.size() : std::min(commands.find("; "), commands.size());
    parts.emplace_back(commands.substr(0, end));
    commands.remove_prefix(std::min(commands.size(), end + 2));
  }
  return parts;
}

std::string join_commands(const std::vector<std::string>& commands) {
  std::string text = join(commands, "; ");
  return text.starts_with("or ") ? text.substr(3) : text;
}

std::optional<TaggingCommand> find_tagging(std::string_view remedy) {
  for (const std::string_view words : {"ddlrun launch --rank-output prefix", "mpirun --tag-output",
                                       "srun --label", "mpiexec --line-buffer --label"}) {
    if (const std::size_t at = remedy.find(words); at != npos) return TaggingCommand{at, words.size()};
  }
  return std::nullopt;
}

void drop_tagging(std::vector<std::string>& remedies) {
  std::vector<std::string> kept;
  for (std::string& remedy : remedies) {
    if (const auto tagging = find_tagging(remedy)) {
      const std::size_t end = remedy.find_last_not_of(":;, ", tagging->at == 0 ? npos : tagging->at - 1);
      remedy.erase(tagging->at == 0 || end == npos ? 0 : end + 1);
    }
    if (!remedy.empty()) kept.push_back(std::move(remedy));
  }
  if (kept.empty() && !remedies.empty())
    kept.emplace_back("look for the first error of any rank: the output has the rank of each line");
  remedies = std::move(kept);
}

std::string without_ssh_to_self(const std::string& remedy,
                                const std::function<bool(const std::string& host)>& is_here) {
  const RemedyParts parts = split_remedy(remedy);
  std::string_view rest = parts.commands;
  const std::string_view lead = starts_with_any(rest, {"mpirun -n 1 -H "}) ? "mpirun -n 1 -H " : "ssh ";
  if (!rest.starts_with(lead)) return remedy;
  rest.remove_prefix(lead.size());
  const std::string host(rest.substr(0, rest.find(' ')));
  if (host.size() == rest.size() || host.starts_with('-') || !is_here(host)) return remedy;
  std::string command(trim(rest.substr(host.size())));
  if (command.starts_with('\'')) {
    // One word of the shell, as quote_shell() writes it.
    if (command.size() < 2 || !command.ends_with('\'')) return remedy;
    const std::string inner = replace_text(command.substr(1, command.size() - 2), "'\\''", "\1");
    if (has(inner, "'")) return remedy;
    command = replace_text(inner, "\1", "'");
  }
  const std::string why = parts.comment.empty() ? "" : ": " + parts.comment.substr(comment_mark.size());
  return command + std::string(comment_mark) + "on " + host + why;
}

Diagnosis without_ssh_to_self(Diagnosis diagnosis,
                              const std::function<bool(const std::string& host)>& is_here) {
  const auto fit = [&](Finding& finding) {
    for (std::string& remedy : finding.remedies) remedy = without_ssh_to_self(remedy, is_here);
  };
  if (diagnosis.cause) fit(*diagnosis.cause);
  std::ranges::for_each(diagnosis.also_seen, fit);
  return diagnosis;
}

bool has_quotes(std::string_view command) { return command.find_first_of("'\"`") != npos; }

std::string replace_text(std::string text, std::string_view old, std::string_view by) {
  for (std::size_t at = text.find(old); at != npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
  return text;
}

}  // namespace ddlrun::diagnose
