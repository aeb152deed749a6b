// SPDX-License-Identifier: MIT
#include "launch/monitor/exit_banner.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

namespace {

bool is_rule(std::string_view line) {
  constexpr std::size_t shortest = 60;
  const std::size_t end = line.find_first_not_of('-');
  return end != std::string_view::npos && end >= shortest && line.substr(end) == "\n";
}

// Open MPI 4.1 and 5.0.
bool opens_banner(std::string_view line) {
  return (line.starts_with("Primary job") && line.find("terminated normally") != line.npos) ||
         line.find("detected that one or more processes exited with non-zero status") != line.npos;
}

}  // namespace

bool is_report_of_end(std::string_view line) {
  static constexpr std::string_view reports[] = {
      "The first process to do so was", "Process name: [", "Exit code:",
      "Exited with exit code",          "EXIT CODE:",      "BAD TERMINATION"};
  return std::ranges::any_of(reports, [&](std::string_view text) { return line.find(text) != line.npos; });
}

bool announces_end(std::string_view line) {
  return opens_banner(line) || line.starts_with("MPI_ABORT was invoked on rank");
}

// help-rmaps_rank_file.txt and help-prte-rmaps-base.txt of PRRTE 3.0.8, and Open MPI 4.1's of the same text.
bool announces_refusal(std::string_view line) {
  static constexpr std::string_view refusals[] = {
      "The rankfile that was used claimed that a host was either not",
      "There are not enough slots available in the system to satisfy",
      "Some of the requested hosts are not included in the current allocation",
      "There are no allocated resources for the application",
      "All nodes which are allocated for this job are already filled",
      "Your job failed to map",
      "A request was made to bind"};
  return std::ranges::any_of(refusals, [&](std::string_view text) { return line.starts_with(text); });
}

std::optional<int> reported_status(std::string_view line) {
  constexpr std::string_view label = "Exit code:";
  const std::string_view text = trim(line);
  if (!text.starts_with(label)) return std::nullopt;
  const auto status = parse_unsigned(trim(text.substr(label.size())), 255);
  return status ? std::optional(static_cast<int>(*status)) : std::nullopt;
}

std::string ExitBannerFilter::take(std::string_view line) {
  if (in_banner_) {
    in_banner_ = !is_rule(line);
    return {};
  }
  if (!rule_.empty() && opens_banner(line)) {
    rule_.clear();
    in_banner_ = true;
    return {};
  }
  std::string kept = std::exchange(rule_, {});
  if (is_rule(line))
    rule_ = line;
  else
    kept += line;
  return kept;
}

std::string ExitBannerFilter::finish() { return std::exchange(rule_, {}); }

}  // namespace ddlrun::launch
