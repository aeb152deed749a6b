// SPDX-License-Identifier: MIT
#include "runtime/telemetry/telemetry_sinks.hpp"

#include "base/os/replaced_path.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

namespace ddlrun::runtime {
namespace {

const FilePurpose results_use{"--summary-json", "the summary file"};
const FilePurpose timeline_use{"--timeline", "the timeline"};

// A device, a pipe.
bool is_through(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

// A name for what lies there in the end, or "" for devices and pipes, which may take several.
std::string place_of(const std::string& path) {
  std::error_code ignored;
  if (is_through(path)) return "";
  const auto target = std::filesystem::absolute(follow_links(path), ignored);
  std::string place = std::filesystem::weakly_canonical(target, ignored).string();
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  return place;
}

void check_names(const TelemetryPlan& plan) {
  const std::pair<const char*, const std::string*> outputs[] = {{"--metrics", &plan.metrics},
                                                                {"--summary-json", &plan.results},
                                                                {"--timeline", &plan.timeline},
                                                                {"--tensorboard", &plan.tensorboard},
                                                                {"--checkpoint", &plan.checkpoint}};
  constexpr std::size_t files = 3;  // the others are directories, which may be one
  for (std::size_t i = 0; i < std::size(outputs); ++i) {
    const auto& [option, path] = outputs[i];
    if (*path == "-") {
      throw Error(ErrorKind::usage, {"- is not supported as a file name here", fmt::format("{} -", option),
                                     fmt::format("{} ./-{}", option, i < 2 ? "   # or /dev/stdout" : "")});
    }
    if (path->empty() || i >= files) continue;
    const std::string place = place_of(*path);
    for (std::size_t k = i + 1; k < std::size(outputs) && !place.empty(); ++k) {
      if (outputs[k].second->empty() || place_of(*outputs[k].second) != place) continue;
      throw Error(ErrorKind::usage,
                  {fmt::format("{} and {} point to the same path", option, outputs[k].first),
                   fmt::format("{} {} {} {}", option, printable(*path), outputs[k].first,
                               printable(*outputs[k].second)),
                   fmt::format("{} {}", outputs[k].first,
                               quote_shell(*path + "." + std::string(outputs[k].first).substr(2)))});
    }
  }
}

}  // namespace

void check_outputs(const TelemetryPlan& plan, bool writes) {
  check_names(plan);
  if (!writes) return;
  check_atomic_file(plan.results, results_use);
  if (is_through(plan.timeline)) {
    throw Error(ErrorKind::request, {"the timeline cannot be written: it must be a regular file, because "
                                     "each rank writes a part beside it",
                                     "--timeline " + printable(plan.timeline), "--timeline timeline.json"});
  }
  check_atomic_file(plan.timeline, timeline_use);
}

TelemetrySinks::TelemetrySinks(const TelemetryPlan& plan, const RunFacts& facts, Communicator& ranks,
                               StallInspector* stalls)
    : plan_(plan), facts_(facts), ranks_(ranks), first_(ranks.rank() == 0) {
  // A wish from the environment may have reached some ranks only.
  plan_.timeline = ranks.gather_all(plan_.timeline).at(0);
  run_collectively(ranks, [&] {
    metrics_.emplace(first_ ? plan_.metrics : "", plan_.resumed);
    tensorboard_.emplace(first_ ? plan_.tensorboard : "", facts_);
    if (!first_) return;
    metrics_->write(render_config_record(facts_));
    if (!facts_.layers_record.empty()) metrics_->write(facts_.layers_record);
    metrics_->flush();
  });
  if (first_) {
    reporter_.emplace(facts_, *metrics_, plan_.quiet);
    observers_.add(*reporter_);
    observers_.add(*tensorboard_);
    observers_.add(history_);
  }
  if (stalls != nullptr && ranks.size() > 1) {
    stalls->report_progress_with([&ranks](std::uint64_t state) { ranks.set_progress(state); });
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

TrainSummary TelemetrySinks::run(const std::function<TrainSummary()>& train) {
  try {
    const TrainSummary summary = train();
    find_peak_memory();
    attempt([&] { write_end(summary); });
    attempt([&] { end_timeline(); });
    return summary;
  } catch (const CollectiveError&) {
    attempt([&] { end_timeline(); });
    throw;
  } catch (const Error&) {
    if (timeline_) print_subsets();
    throw;
  }
}

void TelemetrySinks::attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const CollectiveError& error) {
    if (!problem_) problem_ = error;
  }
}

bool TelemetrySinks::has_written() const { return !problem_; }

void TelemetrySinks::require_written() const {
  if (problem_) throw CollectiveError(*problem_);
}

void TelemetrySinks::end_timeline() {
  if (!timeline_) return;
  sinks_ = {};
  TimelineReport report;
  try {
    report = finish_timeline(plan_.timeline, std::move(timeline_), ranks_);
  } catch (const CollectiveError&) {
    if (first_) print_subsets();
    throw;
  }
  if (first_ && !plan_.quiet) fmt::print(stderr, "{}", render_timeline_report(plan_.timeline, report));
}

void TelemetrySinks::print_subsets() const {
  fmt::print(stderr, "timeline: the parts of the ranks so far are in {}; merge them: ddl-train timeline {}\n",
             printable(plan_.timeline + ".rank*.part"), quote_shell(plan_.timeline));
}

void TelemetrySinks::find_peak_memory() {
  const std::vector<std::string> all = ranks_.gather_all(std::to_string(peak_memory_bytes()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::uint64_t bytes = parse_unsigned(all[rank]).value_or(0);
    if (bytes <= facts_.peak_memory_bytes) continue;
    facts_.peak_memory_bytes = bytes;
    facts_.peak_memory_rank = static_cast<int>(rank);
  }
}

void TelemetrySinks::write_end(const TrainSummary& summary) {
  run_collectively(ranks_, [&] {
    if (!first_) return;
    AtomicFile results(plan_.results, results_use);
    results.write(render_results(facts_, summary, history_.epochs));
    results.end();
  });
  run_collectively(ranks_, [&] {
    if (!first_) return;
    if (!summary.stopped) metrics_->write(render_summary_record(facts_, summary));
    metrics_->finish();
    tensorboard_->finish();
  });
}

}  // namespace ddlrun::runtime
