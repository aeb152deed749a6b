// SPDX-License-Identifier: MIT
#include "launch/monitor/monitor_record.hpp"

#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <set>

namespace ddlrun::launch {

std::optional<RankReport> find_first_failure(const MonitorRecord& record, int status) {
  if (status == 0) return std::nullopt;
  const auto& ended = record.first_ended;
  return ended && ended->exit_status == status ? ended : record.first_failure;
}

void blame(MonitorRecord& record, std::uint32_t rank, const std::string& host, bool stood_still) {
  auto& first = record.first_failure;
  const bool is_known = first && first->rank == rank && !stood_still;
  if (first && (is_known || first->signal != 0 || first->start_error != 0)) return;
  const auto end = record.ends.find(rank);
  if (stood_still && (end == record.ends.end() || end->second != 0)) {
    const auto stall = std::find_if(record.stalls.rbegin(), record.stalls.rend(),
                                    [&](const RankReport& report) { return report.rank == rank; });
    first = RankReport{rank, host, RankStatus::stalled, {}};
    if (stall != record.stalls.rend()) first->stall = stall->stall;
    return;
  }
  record.failed_with.clear();
  const int status = end == record.ends.end() || end->second == 128 + SIGTERM ? 0 : end->second;
  RankReport report{rank, host, RankStatus::ended, {}, status};
  if (status > 128) report.signal = status - 128;
  first = report;
}

bool is_ended_by_launcher(int status) { return status == 128 + SIGTERM || status == 128 + SIGKILL; }

std::optional<int> find_common_end(const MonitorRecord& record, std::size_t ranks) {
  if (record.ends.empty() || record.ends.size() != ranks) return std::nullopt;
  const int first = record.ends.begin()->second;
  const bool alike = std::all_of(record.ends.begin(), record.ends.end(),
                                 [&](const auto& end) { return end.second == first; });
  return alike && first > 0 && first < 128 ? std::optional(first) : std::nullopt;
}

bool all_saved(const MonitorRecord& record, std::size_t ranks) {
  const auto has_saved = [](const auto& end) { return end.second == saved_status; };
  const auto is_no_failure = [&](const auto& end) { return end.second == 0 || has_saved(end); };
  return record.ends.size() == ranks && std::ranges::all_of(record.ends, is_no_failure) &&
         std::ranges::any_of(record.ends, has_saved);
}

bool all_ended_well(const MonitorRecord& record, std::size_t ranks) {
  return record.ends.size() == ranks &&
         std::all_of(record.ends.begin(), record.ends.end(), [](const auto& end) { return end.second == 0; });
}

std::string render_lost_hosts(const std::vector<std::string>& hosts) {
  return fmt::format("{} {} was lost: the connection to it broke, or its daemon was killed",
                     hosts.size() == 1 ? "host" : "each of", join_first(hosts, 8, ","));
}

std::string name_ranks(const std::vector<std::uint32_t>& ranks, const std::string& host) {
  std::vector<int> numbers(ranks.begin(), ranks.end());
  std::sort(numbers.begin(), numbers.end());
  const bool is_one = numbers.size() == 1;
  return fmt::format("rank{} {}{}", is_one ? "" : "s", printable(render_ranges(numbers), 80),
                     is_one && !host.empty() ? " on " + host : "");
}

std::string describe_end(const RankReport& report) {
  return report.signal != 0 ? "was ended by " + describe_signal(report.signal)
                            : fmt::format("exited with status {}", report.exit_status);
}

std::string describe_absence(const RankReport& report) {
  const bool is_stopped = report.stall.state == 'T' || report.stall.state == 't';
  if (report.sign == RankStatus::stalled)
    return fmt::format("{} while the other ranks waited for it",
                       is_stopped ? "was stopped" : "did not respond");
  const bool left = report.signal == 0 && report.exit_status == 0;
  return left ? "left while the other ranks waited for it" : "";
}

std::string name_ends(const std::vector<RankEnd>& ends) {
  constexpr std::size_t most = 4;
  const bool has_more = ends.size() > most;
  const std::size_t named = has_more ? most - 1 : ends.size();
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    const bool is_last = i + 1 == ends.size();
    text += fmt::format("{}{} on {}",
                        i == 0    ? ""
                        : is_last ? " and "
                                  : ", ",
                        ends[i].rank, printable(ends[i].host, 60));
  }
  return has_more ? text + fmt::format(" and {} more", ends.size() - named) : text;
}

std::string render_statuses(const std::vector<RankEnd>& ends) {
  std::set<int> statuses;
  for (const RankEnd& end : ends) statuses.insert(end.exit_status);
  return fmt::format("{}", fmt::join(statuses, " and "));
}

std::string render_first_failure(const RankReport& report) {
  std::string how = describe_absence(report);
  if (how.empty()) how = describe_end(report);
  if (report.signal != 0) how += fmt::format(", status {}", report.exit_status);
  const std::string why = report.start_error == 0 ? "" : ": " + describe_start_error(report.start_error);
  return fmt::format("rank {} on {} failed first: it {}{}", report.rank, report.host, how, why);
}

std::string render_failure(const MonitorRecord& record, const RankReport& first) {
  if (record.alike > 0)
    return fmt::format("all {} ranks failed alike: exit status {}", record.alike, first.exit_status);
  if (record.differ.size() == 2)
    return fmt::format("ranks {} and {} failed first: they make different calls", record.differ[0],
                       record.differ[1]);
  if (record.failed_with.empty()) return render_first_failure(first);
  std::vector<RankEnd> all{{first.rank, first.host, first.exit_status}};
  all.insert(all.end(), record.failed_with.begin(), record.failed_with.end());
  return fmt::format("ranks {} failed within 1 s: exit status {}", name_ends(all), render_statuses(all));
}

}  // namespace ddlrun::launch
