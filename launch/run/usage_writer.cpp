// SPDX-License-Identifier: MIT
#include "launch/run/usage_writer.hpp"

#include "base/os/unix_time.hpp"
#include "base/text/error.hpp"

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr int most_share = 20;                     // of the time launch writes at most one part of 20
constexpr std::chrono::seconds after_failure{30};  // a full disk may have room again

}  // namespace

UsageWriter::UsageWriter(System& system, const LaunchRun& run, RankMonitor& ranks,
                         std::optional<LaunchOutput>& output)
    : system_(system),
      ranks_(ranks),
      states_(run.plan.placed.job.ranks, system.clock.steady()),
      path_(run.run_dir + std::string(usage_file)) {
  ranks.share_reports([this](const RankReport& report, Time now) { states_.take(report, now); });
  if (!output) return;
  output->share_output(
      [this](std::uint32_t rank, std::string_view bytes) { states_.take_output(rank, bytes); });
}

void UsageWriter::tick(Time now) {
  if (now < next_) return;
  states_.take_standstill(ranks_.standstill(now));
  const UsageState& state = states_.look(now, unix_seconds(system_));
  write(state);
  const Time end = system_.clock.steady();
  const auto interval =
      std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(state.interval_s));
  next_ = now + std::max<Time::duration>(failed_ ? after_failure : interval, most_share * (end - now));
}

void UsageWriter::finish() { write(states_.finish(system_.clock.steady(), unix_seconds(system_))); }

// The job goes on without: this is a view of it.
void UsageWriter::write(const UsageState& state) {
  try {
    system_.files.rewrite(path_, render_usage_json(state));
    failed_ = false;
  } catch (const Error& error) {
    if (!failed_)
      system_.err(
          render_message("ddlrun", "note",
                         {"the state of the ranks is not kept for ddlrun top: " + error.message().what, path_,
                          error.message().hint}));
    failed_ = true;
  }
}

}  // namespace ddlrun::launch
