// SPDX-License-Identifier: MIT
#include "runtime/seeing/watchers.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ddlrun::runtime {

Watchers::Watchers(const WatchPlan& plan, const RunFacts& facts, Communicator& ranks, StallReport* stalls)
    : plan_(plan), facts_(facts), ranks_(ranks), first_(ranks.rank() == 0) {
  // A wish from the environment may have reached some ranks only.
  plan_.timeline = ranks.gather_all(plan_.timeline).at(0);
  run_agreed(ranks, [&] {
    metrics_.emplace(first_ ? plan_.metrics : "", plan_.resumed);
    tensorboard_.emplace(first_ ? plan_.tensorboard : "", facts_);
    results_.emplace(first_ ? plan_.results : "", FileUse{"--results", "the file of the results"});
  });
  if (first_) {
    reporter_.emplace(facts_, *metrics_, plan_.quiet);
    observers_.add(*reporter_);
    observers_.add(*tensorboard_);
    observers_.add(history_);
    metrics_->write(render_config_record(facts_));
  }
  if (stalls != nullptr && ranks.size() > 1) {
    stalls->show_by([&ranks](std::uint64_t state) { ranks.show_state(state); });
    observers_.add(*stalls);
    sinks_.add(*stalls);
    traces_ = true;
  }
  if (!plan_.timeline.empty()) {
    timeline_ = start_timeline(plan_.timeline, facts_.local_batch, ranks);
    observers_.add(*timeline_);
    sinks_.add(*timeline_);
    traces_ = true;
  }
}

TrainSummary Watchers::run(const std::function<TrainSummary()>& train) {
  try {
    const TrainSummary summary = train();
    find_peak_memory();
    end_timeline();
    write_end(summary);
    return summary;
  } catch (const AgreedError&) {
    end_timeline();
    throw;
  } catch (const Error&) {
    if (timeline_) {
      fmt::print(stderr, "timeline: what each rank has told until now is in {}: ddl-train timeline {}\n",
                 printable(plan_.timeline + ".rank*.part"), quote_shell(plan_.timeline));
    }
    throw;
  }
}

void Watchers::end_timeline() {
  if (!timeline_) return;
  sinks_ = {};
  const TimelineReport report = finish_timeline(plan_.timeline, std::move(timeline_), ranks_);
  if (first_ && !plan_.quiet) fmt::print(stderr, "{}", render_timeline_report(plan_.timeline, report));
}

void Watchers::find_peak_memory() {
  const std::vector<std::string> all = ranks_.gather_all(std::to_string(peak_memory_bytes()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::uint64_t bytes = parse_unsigned(all[rank]).value_or(0);
    if (bytes <= facts_.peak_memory_bytes) continue;
    facts_.peak_memory_bytes = bytes;
    facts_.peak_memory_rank = static_cast<int>(rank);
  }
}

void Watchers::write_end(const TrainSummary& summary) {
  if (!first_) return;
  if (!summary.stopped) metrics_->write(render_summary_json(facts_, summary, true));
  metrics_->flush();
  results_->write(render_results(facts_, summary, history_.epochs));
  results_->end();
}

}  // namespace ddlrun::runtime
