// SPDX-License-Identifier: MIT
#include "runtime/telemetry/timeline.hpp"

#include "runtime/telemetry/timeline_clock.hpp"

#include <fmt/format.h>

#include <random>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t known_places = 2048;
constexpr std::size_t most_known = known_places / 2;
constexpr std::uint16_t step_name = 0;
constexpr std::uint16_t other_name = 1;

template <typename Clock>
std::int64_t nanoseconds_of(std::chrono::time_point<Clock> time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::size_t mix_place(const char* place, std::size_t size) {
  return ((reinterpret_cast<std::uintptr_t>(place) ^ size << 3U) * 0x9e3779b97f4a7c15U) >> 40U;
}

// The same on all ranks.
std::uint64_t choose_run(Communicator& ranks) {
  std::random_device source;
  const std::uint64_t mine = (std::uint64_t{source()} << 32U) ^ source();
  return std::stoull(ranks.gather_all(std::to_string(mine)).at(0));
}

// "rank 3 h2" -> "h2"
std::string host_of(const Communicator& ranks) {
  const std::string name = rank_name(ranks);
  const auto blank = name.find(' ', name.find(' ') + 1);
  return blank == std::string::npos ? "" : name.substr(blank + 1);
}

}  // namespace

Timeline::Timeline(const std::string& path, const PartFacts& facts, std::size_t bytes)
    : facts_(facts), part_(part_name(path, facts.rank), facts, bytes), known_(known_places) {}

void Timeline::span(TraceLane lane, std::string_view name, TraceClock::time_point begin,
                    TraceClock::time_point end, std::uint64_t bytes) {
  part_.add({nanoseconds_of(begin), nanoseconds_of(end) - nanoseconds_of(begin), bytes, number_of(name),
             static_cast<PartLane>(lane)});
}

void Timeline::on_step(const StepRecord& record) {
  const auto end = nanoseconds_of(TraceClock::now());
  const auto duration = static_cast<std::int64_t>(1e9 * record.step_seconds);
  part_.add({end - duration, duration, record.step, step_name, PartLane::steps});
}

std::uint16_t Timeline::number_of(std::string_view name) {
  std::size_t at = mix_place(name.data(), name.size()) % known_places;
  while (true) {
    const CachedName& known = known_[at];
    const char* place = known.place.load(std::memory_order_acquire);
    if (place == nullptr) return store_name(name, at);
    if (place == name.data() && known.size == name.size()) return known.number;
    at = (at + 1) % known_places;
  }
}

// Another thread may have taken the place since.
std::uint16_t Timeline::store_name(std::string_view name, std::size_t from) {
  const std::lock_guard lock(names_mutex_);
  if (name.data() == nullptr || names_ == most_known) return other_name;
  std::size_t at = from;
  for (; known_[at].place.load(std::memory_order_relaxed) != nullptr; at = (at + 1) % known_places) {
    if (known_[at].place.load(std::memory_order_relaxed) == name.data() && known_[at].size == name.size())
      return known_[at].number;
  }
  ++names_;
  known_[at].size = name.size();
  known_[at].number = part_.add_name(name);
  known_[at].place.store(name.data(), std::memory_order_release);
  return known_[at].number;
}

std::unique_ptr<Timeline> start_timeline(const std::string& path, std::uint64_t images_per_step,
                                         Communicator& ranks) {
  PartFacts facts;
  facts.run = choose_run(ranks);
  facts.rank = ranks.rank();
  facts.ranks = ranks.size();
  facts.host = host_of(ranks);
  facts.images_per_step = images_per_step;
  facts.wall_ns = nanoseconds_of(std::chrono::system_clock::now());
  facts.start_ns = nanoseconds_of(TraceClock::now());
  std::unique_ptr<Timeline> timeline;
  run_collectively(ranks, [&] { timeline = std::make_unique<Timeline>(path, facts); });
  timeline->add_clock(read_clock(ranks));
  return timeline;
}

}  // namespace ddlrun::runtime
