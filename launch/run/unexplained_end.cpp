// SPDX-License-Identifier: MIT
#include "launch/run/unexplained_end.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "launch/monitor/rank_files.hpp"
#include "launch/monitor/rank_monitor.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

std::string render_below(const std::string& head, const std::vector<std::string>& lines) {
  return lines.empty() ? "" : head + ":\n" + render_quoted(lines);
}

std::string render_left(const UnexplainedEnd& end) {
  const std::string who = name_ranks(end.left, end.left_host);
  const std::string_view it = end.left.size() == 1 ? "it" : "them";
  return fmt::format("cause: {} ended with status 0 before the others: their errors are consequences\n",
                     who) +
         fmt::format("at: rank {} on {}\n", end.left.front(), end.left_host) +
         render_below("errors of the other ranks, which are consequences", end.error_lines) +
         fmt::format(
             "try:\n  look in the program for what ends {} early with status 0: sys.exit, or fewer "
             "steps than the others\n",
             it);
}

// "rank 1 on h2 exited with status 3"
std::string render_how(const UnexplainedEnd& end) {
  if (!end.first) return fmt::format("the job ended with status {}", end.status);
  return fmt::format("rank {} on {} {}", end.first->rank, end.first->host, describe_end(*end.first));
}

std::string head_of_last_lines(const UnexplainedEnd& end) {
  return fmt::format("the last {} line{} of rank {} on stderr{}", end.last_lines.size(),
                     end.last_lines.size() == 1 ? "" : "s", end.first->rank,
                     end.rank_file.empty() ? "" : ", " + end.rank_file);
}

}  // namespace

std::string render_unexplained_end(const UnexplainedEnd& end) {
  if (!end.left.empty()) return render_left(end);
  const bool is_alone = end.is_alone && end.first;
  const bool has_last_lines = end.first && !end.last_lines.empty();
  const bool is_silent = !has_last_lines && end.error_lines.empty();
  std::string text = fmt::format("cause: unknown: {}{}{}\n", render_how(end), is_alone ? " by itself" : "",
                                 is_alone && !has_last_lines ? " and printed no error"
                                 : is_silent                 ? ", and the output does not show why"
                                                             : ", and its output matches no known failure");
  if (end.first) text += fmt::format("at: rank {} on {}\n", end.first->rank, end.first->host);
  if (has_last_lines) text += render_below(head_of_last_lines(end), end.last_lines);
  if (is_alone)
    text += render_below("errors of the other ranks, which are consequences", end.error_lines);
  else if (!has_last_lines)
    text += render_below(fmt::format("the most likely error line{}", end.error_lines.size() == 1 ? "" : "s"),
                         end.error_lines);
  text += "try:\n";
  const bool by_exit = end.first && end.first->signal == 0;
  if (by_exit && (is_alone || is_silent))
    text += fmt::format("  look in the program for what ends it with status {}, such as sys.exit\n",
                        end.first->exit_status);
  if (!is_alone)
    text += fmt::format("  ddlrun doctor {}   # checks the hosts\n", quote_shell(fold_host_list(end.hosts)));
  return text;
}

}  // namespace ddlrun::launch
