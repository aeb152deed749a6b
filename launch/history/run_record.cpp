// SPDX-License-Identifier: MIT
#include "launch/history/run_record.hpp"

#include "base/text/text.hpp"
#include "launch/monitor/monitor_record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <csignal>

namespace ddlrun::launch {

namespace {

std::tm utc(std::chrono::system_clock::time_point time) {
  return fmt::gmtime(std::chrono::system_clock::to_time_t(time));
}

// The end of a rank that Ctrl-C, cancel or the launcher ended with the job.
bool ends_with_job(const RunFailure& failure, const RunEnd& end) {
  const int signal = failure.signal != 0 ? failure.signal : failure.exit_status - 128;
  return signal == SIGINT || signal == SIGTERM || signal == SIGKILL || signal == end.stopped_by;
}

}  // namespace

std::vector<RankEnd> RunFailure::all() const {
  std::vector<RankEnd> ends{{rank, host, exit_status}};
  ends.insert(ends.end(), with.begin(), with.end());
  return ends;
}

std::string RunFailure::words() const {
  if (!absence.empty()) return absence;
  if (signal != 0) return fmt::format("was ended by signal {}", signal);
  if (exit_status != 0) return fmt::format("exited with status {}", exit_status);
  return "left, or did not respond, while the other ranks waited for it";  // a record of an older ddlrun
}

bool RunEnd::is_cancelled() const {
  const bool ends =
      stopped_by == SIGINT || stopped_by == SIGTERM || stopped_by == SIGHUP || stopped_by == SIGQUIT;
  return ends && !is_saved();
}

bool RunEnd::is_saved() const { return exit_status == saved_status; }

const RunFailure* RunRecord::first_failure() const {
  if (!watched || !watched->first_failure || (end && end->is_saved())) return nullptr;
  const bool is_of_the_end = end && end->is_cancelled() && ends_with_job(*watched->first_failure, *end);
  return is_of_the_end ? nullptr : &*watched->first_failure;
}

std::string render_time(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc(time));
}

std::string render_time_for_names(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y%m%d-%H%M%S}", utc(time));
}

// FNV-1a: not against guessing, only for a fixed length.
std::string render_digest(std::string_view value) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char byte : value) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

std::optional<std::int64_t> parse_run_time(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !digit : text[i] != form[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t length) {
    return static_cast<unsigned>(parse_unsigned(text.substr(at, length)).value_or(0));
  };
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(number(0, 4))),
                                        std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2))};
  if (!day.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(days).count() + number(11, 2) * 3600 +
         number(14, 2) * 60 + number(17, 2);
}

std::optional<std::int64_t> parse_name_time(std::string_view name) {
  if (name.size() < 15 || name[8] != '-') return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t length) { return name.substr(at, length); };
  return parse_run_time(fmt::format("{}-{}-{}T{}:{}:{}Z", part(0, 4), part(4, 2), part(6, 2), part(9, 2),
                                    part(11, 2), part(13, 2)));
}

}  // namespace ddlrun::launch
