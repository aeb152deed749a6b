// SPDX-License-Identifier: MIT
#include "launch/history/standing_run.hpp"

#include "base/os/unix_time.hpp"
#include "base/text/error.hpp"
#include "launch/history/run_store.hpp"

#include <utility>

namespace ddlrun::launch {

std::optional<Standstill> find_standstill(RunState state, const UsageState& usage, std::int64_t now_s) {
  const bool goes_on = state == RunState::running || state == RunState::elsewhere;
  if (!goes_on || usage.over || usage.is_stale(now_s - usage.written_s)) return std::nullopt;
  return usage.standstill;
}

bool is_reporting(System& system, const std::string& directory) {
  const std::string file = directory + std::string(usage_file);
  if (!system.files.exists(file)) return false;
  try {
    const UsageState usage = parse_usage_json(system.files.read(file, max_usage_bytes), file);
    return !usage.over && !usage.is_stale(unix_seconds(system) - usage.written_s);
  } catch (const Error&) {
    return false;
  }
}

std::optional<StandingRun> find_standing_run(System& system, const std::string& directory) {
  const std::string file = directory + std::string(usage_file);
  if (!system.files.exists(file)) return std::nullopt;
  try {
    const RunRecord run = read_run(system, directory, false);
    const UsageState usage = parse_usage_json(system.files.read(file, max_usage_bytes), file);
    auto standstill = find_standstill(find_run_state(system, run), usage, unix_seconds(system));
    if (!standstill) return std::nullopt;
    return StandingRun{run.id, *std::move(standstill)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace ddlrun::launch
