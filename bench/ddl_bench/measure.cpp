// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/measure.hpp"

#include "bench/ddl_bench/memory_bandwidth.hpp"

#include <algorithm>
#include <set>

namespace ddlrun::ddl_bench {
namespace {

constexpr double turn_seconds = 200e-6;  // short calls are repeated until a clock can tell
constexpr double max_calls = 500.0;
constexpr double min_turns = 5.0;
constexpr double max_turns = 2000.0;
constexpr double max_checked_turns = 20.0;
constexpr int turns_between_looks = 5;
constexpr double max_overrun = 1.5;  // of the time that was planned
// Below, what is measured is a loop, not memory.
constexpr std::size_t min_roofline_bytes = 1024;

// The limit as one more participant of the turns.
class MemoryCase : public Case {
 public:
  MemoryCase(std::size_t bytes, int ranks, bool once) : memory_(bytes, ranks, once) {}
  std::span<std::byte> input() override { return {}; }
  std::span<const std::byte> output() override { return {}; }
  void call() override { memory_.pass(); }

 private:
  MemoryBandwidth memory_;
};

struct Entry {
  std::size_t backend;
  std::unique_ptr<Case> bench_case;
  std::size_t wrong = 0;
  std::size_t calls = 1;
  double expected = 0.0;  // seconds of a call
  std::vector<double> seconds;
};

class Turns {
 public:
  Turns(World& world, const MeasurePlan& plan)
      : world_(world), plan_(plan), pattern_(plan.type, world.size()) {}

  void run(std::vector<Entry>& entries) {
    for (Entry& entry : entries) calibrate(entry);
    double round = 0.0;
    for (const Entry& entry : entries) round += entry.expected * static_cast<double>(entry.calls);
    std::set<std::size_t> backends;  // the variants of a backend share its time
    for (const Entry& entry : entries) backends.insert(entry.backend);
    const double budget = plan_.seconds * static_cast<double>(backends.size());
    const double turns =
        std::clamp(budget / std::max(round, 1e-9), min_turns, plan_.check ? max_checked_turns : max_turns);
    const double start = plan_.now();
    for (int turn = 0; turn < static_cast<int>(turns); ++turn) {
      // Where the machine became busy: all ranks stop after the same turn.
      if (turn >= min_turns && turn % turns_between_looks == 0 &&
          world_.max_of({plan_.now() - start})[0] > max_overrun * budget)
        break;
      for (Entry& entry : entries) measure_turn(entry);
    }
    for (Entry& entry : entries) entry.seconds = world_.max_of(entry.seconds);
  }

 private:
  // The first calls: numbers that are checked, then how long a call takes.
  void calibrate(Entry& entry) {
    checked_call(entry);
    const std::span<std::byte> input = entry.bench_case->input();
    std::fill(input.begin(), input.end(), std::byte{0});  // sums of sums would run away
    entry.bench_case->reset();
    double least = timed(entry, 1);
    for (int again = 0; again < 2; ++again) least = std::min(least, timed(entry, 1));
    entry.expected = std::max(world_.max_of({least})[0], 1e-8);
    entry.calls = static_cast<std::size_t>(std::clamp(turn_seconds / entry.expected, 1.0, max_calls));
    if (plan_.check && !input.empty())
      entry.calls = 1;  // and comparing takes longer than the call: few turns
  }

  void measure_turn(Entry& entry) {
    if (plan_.check && !entry.bench_case->input().empty())
      entry.seconds.push_back(checked_call(entry));
    else
      entry.seconds.push_back(timed(entry, entry.calls) / static_cast<double>(entry.calls));
  }

  double checked_call(Entry& entry) {
    Case& bench_case = *entry.bench_case;
    pattern_.fill(bench_case.input(), world_.rank());
    bench_case.reset();
    const double seconds = timed(entry, 1);
    // In place: no rank refills before all have checked; sum_of() waits for that.
    entry.wrong += world_.sum_of(pattern_.count_wrong(bench_case.output()));
    return seconds;
  }

  double timed(Entry& entry, std::size_t calls) {
    world_.barrier();
    const double start = plan_.now();
    for (std::size_t i = 0; i < calls; ++i) entry.bench_case->call();
    return plan_.now() - start;
  }

  World& world_;
  const MeasurePlan& plan_;
  Pattern pattern_;
};

double least_seconds(const Entry& entry) {
  return entry.seconds.empty() ? 0.0 : *std::min_element(entry.seconds.begin(), entry.seconds.end());
}

struct Rooflines {
  std::optional<double> sums, used_once, link;
};

std::optional<double> limit_of(Roofline form, const Rooflines& limits) {
  if (form == Roofline::none) return std::nullopt;
  const std::optional<double> memory = form == Roofline::used_once ? limits.used_once : limits.sums;
  if (!limits.link) return memory;
  return std::max(memory.value_or(0.0), *limits.link * (form == Roofline::half_on_wire ? 0.5 : 1.0));
}

Rooflines find_rooflines(std::vector<Entry>& entries, std::size_t backends) {
  Rooflines limits;
  for (const Entry& entry : entries) {
    if (entry.backend == backends) limits.sums = least_seconds(entry);
    if (entry.backend == backends + 1) limits.used_once = least_seconds(entry);
    if (entry.backend == backends + 2)
      limits.link = std::min(limits.link.value_or(least_seconds(entry)), least_seconds(entry));
  }
  return limits;
}

}  // namespace

SizeResult measure_size(World& world, const std::vector<Backend>& backends, std::size_t bytes,
                        const MeasurePlan& plan) {
  SizeResult result{bytes, bytes / ddl::size_of(plan.type), {}};
  std::vector<Entry> entries;
  bool once = false;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    once = once || backends[i].limit == Roofline::used_once;
    for (auto& bench_case : backends[i].make(bytes))
      entries.push_back({i, std::move(bench_case), 0, 1, 0.0, {}});
  }
  if (bytes >= min_roofline_bytes) {
    entries.push_back(
        {backends.size(), std::make_unique<MemoryCase>(bytes, plan.local_ranks, false), 0, 1, 0, {}});
    if (once)
      entries.push_back(
          {backends.size() + 1, std::make_unique<MemoryCase>(bytes, plan.local_ranks, true), 0, 1, 0, {}});
  }
  if (plan.make_link) {
    for (auto& bench_case : plan.make_link(bytes))
      entries.push_back({backends.size() + 2, std::move(bench_case), 0, 1, 0.0, {}});
  }
  Turns(world, plan).run(entries);
  const Rooflines limits = find_rooflines(entries, backends.size());
  for (std::size_t i = 0; i < backends.size(); ++i) {
    BackendResult backend{backends[i].name, {}, limit_of(backends[i].limit, limits)};
    for (const Entry& entry : entries)
      if (entry.backend == i)
        backend.cases.push_back(
            {entry.bench_case->how(), times_of(entry.seconds).value_or(Times{}), entry.wrong});
    if (!backend.cases.empty()) result.backends.push_back(std::move(backend));
  }
  return result;
}

}  // namespace ddlrun::ddl_bench
