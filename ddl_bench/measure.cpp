// SPDX-License-Identifier: MIT
#include "ddl_bench/measure.hpp"

#include "ddl_bench/streams.hpp"

#include <algorithm>

namespace ddlrun::ddl_bench {
namespace {

constexpr double turn_seconds = 200e-6;  // short calls are repeated until a clock can tell
constexpr double most_calls = 500.0;
constexpr double fewest_turns = 5.0;
constexpr double most_turns = 2000.0;
constexpr double most_checked_turns = 20.0;
// Below, what is measured is a loop, not memory.
constexpr std::size_t smallest_stream_bytes = 1024;

// The limit as one more participant of the turns.
class StreamsVariant : public Variant {
 public:
  StreamsVariant(std::size_t bytes, int ranks, bool once) : streams_(bytes, ranks, once) {}
  std::span<std::byte> input() override { return {}; }
  std::span<const std::byte> output() override { return {}; }
  void call() override { streams_.pass(); }

 private:
  Streams streams_;
};

struct Entry {
  std::size_t way;
  std::unique_ptr<Variant> variant;
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
    for (Entry& entry : entries) settle(entry);
    double round = 0.0;
    for (const Entry& entry : entries) round += entry.expected * static_cast<double>(entry.calls);
    const double budget = plan_.seconds * static_cast<double>(entries.size());
    const double turns = std::clamp(budget / std::max(round, 1e-9), fewest_turns,
                                    plan_.check ? most_checked_turns : most_turns);
    for (int turn = 0; turn < static_cast<int>(turns); ++turn)
      for (Entry& entry : entries) take(entry);
    for (Entry& entry : entries) entry.seconds = world_.max_of(entry.seconds);
  }

 private:
  // The first calls: numbers that are checked, then how long a call takes.
  void settle(Entry& entry) {
    checked_call(entry);
    const std::span<std::byte> input = entry.variant->input();
    std::fill(input.begin(), input.end(), std::byte{0});  // sums of sums would run away
    entry.variant->reset();
    double least = timed(entry, 1);
    for (int again = 0; again < 2; ++again) least = std::min(least, timed(entry, 1));
    entry.expected = std::max(world_.max_of({least})[0], 1e-8);
    entry.calls = static_cast<std::size_t>(std::clamp(turn_seconds / entry.expected, 1.0, most_calls));
    if (plan_.check && !input.empty())
      entry.calls = 1;  // and comparing takes longer than the call: few turns
  }

  void take(Entry& entry) {
    if (plan_.check && !entry.variant->input().empty())
      entry.seconds.push_back(checked_call(entry));
    else
      entry.seconds.push_back(timed(entry, entry.calls) / static_cast<double>(entry.calls));
  }

  double checked_call(Entry& entry) {
    Variant& variant = *entry.variant;
    pattern_.fill(variant.input(), world_.rank());
    variant.reset();
    const double seconds = timed(entry, 1);
    // In place: nobody fills anew before all have looked, which sum_of() waits for.
    entry.wrong += world_.sum_of(pattern_.count_wrong(variant.output()));
    return seconds;
  }

  double timed(Entry& entry, std::size_t calls) {
    world_.barrier();
    const double start = plan_.now();
    for (std::size_t i = 0; i < calls; ++i) entry.variant->call();
    return plan_.now() - start;
  }

  World& world_;
  const MeasurePlan& plan_;
  Pattern pattern_;
};

double least_seconds(const Entry& entry) {
  return entry.seconds.empty() ? 0.0 : *std::min_element(entry.seconds.begin(), entry.seconds.end());
}

struct Limits {
  std::optional<double> sums, used_once, link;
};

std::optional<double> limit_of(LimitForm form, const Limits& limits) {
  if (form == LimitForm::none) return std::nullopt;
  const std::optional<double> memory = form == LimitForm::used_once ? limits.used_once : limits.sums;
  if (!limits.link) return memory;
  return std::max(memory.value_or(0.0), *limits.link * (form == LimitForm::half_on_wire ? 0.5 : 1.0));
}

Limits take_limits(std::vector<Entry>& entries, std::size_t ways) {
  Limits limits;
  for (const Entry& entry : entries) {
    if (entry.way == ways) limits.sums = least_seconds(entry);
    if (entry.way == ways + 1) limits.used_once = least_seconds(entry);
    if (entry.way == ways + 2)
      limits.link = std::min(limits.link.value_or(least_seconds(entry)), least_seconds(entry));
  }
  return limits;
}

}  // namespace

SizeResult measure_size(World& world, const std::vector<Way>& ways, std::size_t bytes,
                        const MeasurePlan& plan) {
  SizeResult result{bytes, bytes / ddl::size_of(plan.type), {}};
  std::vector<Entry> entries;
  bool once = false;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    once = once || ways[i].limit == LimitForm::used_once;
    for (auto& variant : ways[i].make(bytes)) entries.push_back({i, std::move(variant), 0, 1, 0.0, {}});
  }
  if (bytes >= smallest_stream_bytes) {
    entries.push_back(
        {ways.size(), std::make_unique<StreamsVariant>(bytes, plan.local_ranks, false), 0, 1, 0, {}});
    if (once)
      entries.push_back(
          {ways.size() + 1, std::make_unique<StreamsVariant>(bytes, plan.local_ranks, true), 0, 1, 0, {}});
  }
  if (plan.make_link) {
    for (auto& variant : plan.make_link(bytes))
      entries.push_back({ways.size() + 2, std::move(variant), 0, 1, 0.0, {}});
  }
  Turns(world, plan).run(entries);
  const Limits limits = take_limits(entries, ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    WayResult way{ways[i].name, {}, limit_of(ways[i].limit, limits)};
    for (const Entry& entry : entries)
      if (entry.way == i)
        way.variants.push_back(
            {entry.variant->how(), times_of(entry.seconds).value_or(Times{}), entry.wrong});
    if (!way.variants.empty()) result.ways.push_back(std::move(way));
  }
  return result;
}

}  // namespace ddlrun::ddl_bench
