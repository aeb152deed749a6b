// SPDX-License-Identifier: MIT
#include "ddl/host_barrier.hpp"

#include "ddl/fixed_text.hpp"
#include "ddl/occasion_note.hpp"
#include "ddl/roll_call.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

namespace ddl {

namespace {

using BarrierClock = std::chrono::steady_clock;
using Flag = std::atomic<std::uint32_t>;
static_assert(Flag::is_always_lock_free && sizeof(Flag) == 4);

constexpr auto spin_time = std::chrono::microseconds(20);
constexpr auto yield_time = std::chrono::microseconds(200);
// A yield that takes this long gave the core to a stranger; then sleeping is faster, for who wakes is let in
// first.
constexpr auto stranger_time = std::chrono::microseconds(500);
constexpr std::uint32_t meetings_without_yield = 64;
constexpr auto look_round = std::chrono::milliseconds(100);

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27");
#endif
}

// Between processes: no FUTEX_PRIVATE_FLAG.
void sleep_on(Flag& word, std::uint32_t value, std::chrono::nanoseconds most) {
  const timespec limit{.tv_sec = most.count() / 1'000'000'000, .tv_nsec = most.count() % 1'000'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &limit, nullptr, 0);
}
void wake_all(Flag& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace

// One for each rank, at the start of its part. The lines under "common" are used in rank 0's part only.
struct HostBarrier::Shared {
  // arrived: how often this rank has come; its note of that time is notes[arrived % 2], for a rank is at most
  // one meeting ahead of the others.
  struct alignas(64) Line {
    Flag arrived;
    OccasionNote notes[2];
  } line;
  struct alignas(64) State {
    std::atomic<std::uint64_t> number;
    Flag ended;
  } state;
  struct alignas(64) Cpus {
    std::uint64_t mask[16];
  } cpus;
  // common
  struct alignas(64) Bell {
    Flag rung;
  } bell;
  struct alignas(64) Sleepers {
    Flag count;
  } sleepers;
  struct alignas(64) Trouble {
    Flag state;  // 0 none, 1 being written, 2 to be read
    std::uint32_t fault;
    char what[768];
    char where[512];
    char hint[512];
  } trouble;
};

struct HostBarrier::Parts {
  HostGroup& group;
  std::shared_ptr<SharedBlock> block;
  std::chrono::duration<double> timeout;
  std::vector<Shared*> ranks;
  std::uint32_t arrived = 0;
  bool oversubscribed = false;
  std::uint32_t no_yield = 0;  // for so many meetings
  StallWatch watch = {};
  RollCall* roll = nullptr;
  std::vector<int> job_ranks = {};  // by local rank; empty without a roll

  Shared& mine() const { return *ranks[static_cast<std::size_t>(group.local_rank())]; }
  Shared& common() const { return *ranks[0]; }

  bool has_come(std::size_t rank) const {
    const std::uint32_t theirs = ranks[rank]->line.arrived.load(std::memory_order_seq_cst);
    return static_cast<std::int32_t>(theirs - arrived) >= 0;
  }
  // Goes on from `first`: those before it have come.
  bool all_have_come(std::size_t& first) const {
    while (first < ranks.size() && has_come(first)) ++first;
    return first == ranks.size();
  }

  [[noreturn]] void throw_trouble() const;
  void write_trouble(const Error& error) const noexcept;
  [[noreturn]] void fail(const Error& error) const {
    write_trouble(error);
    throw_trouble();
  }
  void wait(const OccasionNote& note);
  void sleep(std::size_t& first, const OccasionNote& note) const;
  void look_for_the_missing(const OccasionNote& note, std::chrono::duration<double> waited) const;
  bool follow_chain(std::size_t rank, const OccasionNote& note, bool late) const;
  Stall describe_stall(const OccasionNote& note) const;
  void compare(const OccasionNote& note) const;
  void count_cpus();
};

void HostBarrier::Parts::throw_trouble() const {
  group.abandon();
  const Shared::Trouble& trouble = common().trouble;
  const auto begin = BarrierClock::now();
  while (trouble.state.load(std::memory_order_acquire) == 1 && BarrierClock::now() - begin < look_round) {
    sched_yield();
  }
  if (trouble.state.load(std::memory_order_acquire) != 2) {
    throw Error(Fault::lost, "another rank of this host failed and could not tell why", "",
                "look for the first error in the other ranks' output");
  }
  throw Error(static_cast<Fault>(trouble.fault), trouble.what, trouble.where, trouble.hint);
}

// The first error is kept; all sleepers are woken to read it.
void HostBarrier::Parts::write_trouble(const Error& error) const noexcept {
  Shared::Trouble& trouble = common().trouble;
  std::uint32_t none = 0;
  if (!trouble.state.compare_exchange_strong(none, 1)) return;
  trouble.fault = static_cast<std::uint32_t>(error.fault());
  keep_text(trouble.what, error.what());
  keep_text(trouble.where, error.where());
  keep_text(trouble.hint, error.hint());
  trouble.state.store(2);
  common().bell.rung.fetch_add(1);
  wake_all(common().bell.rung);
}

// Who has not come may wait itself, for a rank of another host. True: it has come after all.
bool HostBarrier::Parts::follow_chain(std::size_t rank, const OccasionNote& note, bool late) const {
  if (roll == nullptr) return false;
  try {
    roll->wait_for(job_ranks[rank]);
    if (!late) return false;
    const RollCall::Silence silence = roll->find_silent(job_ranks[rank]);
    if (has_come(rank)) return true;
    if (silence.circle || silence.rank == job_ranks[rank]) return false;
    throw Error(Fault::lost,
                fmt::format("{} has not come to {} within {:g} s: {}", group.name_of(static_cast<int>(rank)),
                            render_note(note), timeout.count(), silence.told),
                silence.name, "see whether it still runs and what it last said");
  } catch (const Error& error) {
    fail(error);
  }
}

// Called every 100 ms by who waits.
void HostBarrier::Parts::look_for_the_missing(const OccasionNote& note,
                                              std::chrono::duration<double> waited) const {
  if (common().trouble.state.load(std::memory_order_acquire) != 0) throw_trouble();
  std::vector<std::string> missing;
  std::vector<std::string> dead;
  std::vector<std::string> ended;
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (has_come(rank)) continue;
    if (missing.empty()) first = rank;
    const std::string name = group.name_of(static_cast<int>(rank));
    // Who came and then ended in order is not dead to us: asked again after the look at its process.
    if (!group.alive(static_cast<int>(rank)) && !has_come(rank)) dead.push_back(name);
    if (ranks[rank]->state.ended.load() != 0 && !has_come(rank)) ended.push_back(name);
    missing.push_back(name);
  }
  const auto named = [](const std::vector<std::string>& names) {
    constexpr std::size_t most = 6;
    std::string text = names.front();
    for (std::size_t i = 1; i < std::min(names.size(), most); ++i) text += ", " + names[i];
    return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
  };
  if (!dead.empty()) {
    fail(Error(Fault::lost,
               fmt::format("{} ended before {} came to {}", named(dead), dead.size() == 1 ? "it" : "they",
                           render_note(note)),
               named(dead), "look for that rank's own message, or a kill for memory (dmesg), further up"));
  }
  if (!ended.empty()) {
    fail(Error(Fault::lost,
               fmt::format("{} {} no more calls, and this is {}", named(ended),
                           ended.size() == 1 ? "makes" : "make", render_note(note)),
               named(ended), "all ranks make the same calls before their Context ends"));
  }
  if (!missing.empty() && follow_chain(first, note, waited >= timeout)) return;
  if (!missing.empty() && waited >= timeout) {
    fail(Error(Fault::lost,
               fmt::format("{} {} not come to {} within {:g} s", named(missing),
                           missing.size() == 1 ? "has" : "have", render_note(note), timeout.count()),
               named(missing),
               "see what that rank does: stopped, on another path of the program, or slow (then raise the "
               "timeout)"));
  }
}

// Empty unless this rank is the first of those that wait.
Stall HostBarrier::Parts::describe_stall(const OccasionNote& note) const {
  Stall stall;
  const auto me = static_cast<std::size_t>(group.local_rank());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (has_come(rank) && rank < me) return {};
    if (has_come(rank)) continue;
    const int local = static_cast<int>(rank);
    if (stall.missing.empty()) {
      // It writes its next note into the other place, and is one meeting behind.
      stall.seen = "last in " + render_note(ranks[rank]->line.notes[(arrived - 1) % 2]);
      const std::string process = group.state_of(local);
      if (!process.empty()) stall.seen += "; " + process;
      if (roll != nullptr) {
        const RollCall::Silence silence = roll->find_silent(job_ranks[rank]);
        if (silence.rank != job_ranks[rank]) stall.seen += "; " + silence.told;
      }
      stall.state = ranks[rank]->state.number.load(std::memory_order_relaxed);
    }
    stall.missing.push_back(group.name_of(local));
  }
  stall.call = render_note(note);
  return stall;
}

// Time in which this process itself was stopped must not count: a nap counts as twice its length at most.
void HostBarrier::Parts::sleep(std::size_t& first, const OccasionNote& note) const {
  Flag& sleepers = common().sleepers.count;
  Flag& bell = common().bell.rung;
  struct Asleep {
    Flag& count;
    explicit Asleep(Flag& flag) : count(flag) { count.fetch_add(1); }
    ~Asleep() { count.fetch_sub(1); }
  } const asleep(sleepers);
  BarrierClock::duration waited{};
  BarrierClock::duration next_look = look_round;
  StallTimer stall(watch);
  const auto seconds = [&] { return std::chrono::duration<double>(waited).count(); };
  while (true) {
    const std::uint32_t heard = bell.load();
    // After the count and the bell: who comes later sees us, or we see it.
    if (all_have_come(first)) return stall.over(seconds());
    if (common().trouble.state.load(std::memory_order_acquire) != 0) throw_trouble();
    const auto begin = BarrierClock::now();
    const auto left = std::chrono::duration_cast<BarrierClock::duration>(timeout) - waited;
    sleep_on(bell, heard, std::clamp<BarrierClock::duration>(left, std::chrono::milliseconds(1), look_round));
    waited += std::min<BarrierClock::duration>(BarrierClock::now() - begin, 2 * look_round);
    if (waited >= next_look || waited >= timeout) {
      look_for_the_missing(note, waited);
      stall.waited(seconds(), [&] { return describe_stall(note); });
      next_look = waited + look_round;
    }
  }
}

void HostBarrier::Parts::wait(const OccasionNote& note) {
  std::size_t first = 0;
  // Who comes last rings for those who sleep. All flags are stored and read in one order that all ranks agree
  // on (seq_cst), so the last one sees all flags here, and every sleeper in the count.
  if (all_have_come(first)) {
    if (common().sleepers.count.load() != 0) {
      common().bell.rung.fetch_add(1);
      wake_all(common().bell.rung);
    }
    return;
  }
  const auto begin = BarrierClock::now();
  if (!oversubscribed) {
    do {
      for (int i = 0; i < 32; ++i) {
        if (all_have_come(first)) return;
        relax();
      }
    } while (BarrierClock::now() - begin < spin_time);
  }
  if (no_yield != 0) {
    --no_yield;
    return sleep(first, note);
  }
  auto now = BarrierClock::now();
  do {
    sched_yield();
    const auto before = std::exchange(now, BarrierClock::now());
    if (now - before > stranger_time) no_yield = meetings_without_yield;
    if (all_have_come(first)) return;
  } while (now - begin < yield_time);
  sleep(first, note);
}

void HostBarrier::Parts::compare(const OccasionNote& note) const {
  const auto note_at = [&](std::size_t rank) -> const OccasionNote& {
    return ranks[rank]->line.notes[arrived % 2];
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (note_at(rank) == note) continue;
    // All that see a difference tell the same: the first rank that differs from rank 0.
    std::size_t odd = 1;
    while (odd < ranks.size() && note_at(odd) == note_at(0)) ++odd;
    const std::string odd_name = group.name_of(static_cast<int>(odd));
    const std::string first_name = group.name_of(0);
    const std::string theirs = render_note(note_at(odd));
    const std::string first = render_note(note_at(0));
    fail(Error(Fault::mismatch,
               theirs == first ? fmt::format("{} and {} both call {}, but with other tensors or operations",
                                             odd_name, first_name, theirs)
                               : fmt::format("{} calls {}, {} calls {}", odd_name, theirs, first_name, first),
               fmt::format("{}, {}", odd_name, first_name),
               "all ranks must make the same calls in the same order"));
  }
}

void HostBarrier::Parts::count_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  Shared::Cpus& my_cpus = mine().cpus;
  static_assert(sizeof(set) == sizeof(my_cpus.mask));
  if (sched_getaffinity(0, sizeof(set), &set) == 0) std::memcpy(my_cpus.mask, &set, sizeof(set));
}

HostBarrier::HostBarrier(HostGroup& group, std::shared_ptr<SharedBlock> block, double timeout_seconds)
    : parts_(new Parts{group, std::move(block), std::chrono::duration<double>(timeout_seconds), {}}) {
  for (int rank = 0; rank < group.local_size(); ++rank) {
    parts_->ranks.push_back(reinterpret_cast<Shared*>(parts_->block->part(rank).data()));
  }
  parts_->count_cpus();
  meet({Verb::start, {}, 0, DataType::float32, 0});
  int cpus = 0;
  for (std::size_t word = 0; word < std::size(parts_->mine().cpus.mask); ++word) {
    std::uint64_t any = 0;
    for (const Shared* rank : parts_->ranks) any |= rank->cpus.mask[word];
    cpus += std::popcount(any);
  }
  parts_->oversubscribed = cpus != 0 && cpus < group.local_size();
}

HostBarrier::~HostBarrier() = default;

std::size_t HostBarrier::bytes_needed() { return sizeof(Shared); }
bool HostBarrier::oversubscribed() const { return parts_->oversubscribed; }
void HostBarrier::watch(StallWatch watch) { parts_->watch = std::move(watch); }
void HostBarrier::call_roll(RollCall* roll, std::vector<int> ranks) {
  parts_->roll = roll;
  parts_->job_ranks = std::move(ranks);
}
void HostBarrier::set_state(std::uint64_t state) noexcept {
  parts_->mine().state.number.store(state, std::memory_order_relaxed);
}
void HostBarrier::end() noexcept { parts_->mine().state.ended.store(1); }
void HostBarrier::give_up(const Error& error) noexcept {
  parts_->write_trouble(error);
  parts_->group.abandon();
}

void HostBarrier::look() const {
  if (parts_->common().trouble.state.load(std::memory_order_relaxed) != 0) parts_->throw_trouble();
}

void HostBarrier::meet(const Occasion& occasion) {
  Parts& parts = *parts_;
  look();
  if (parts.ranks.size() == 1) return;
  const OccasionNote note = note_of(occasion);
  Shared::Line& line = parts.mine().line;
  ++parts.arrived;
  line.notes[parts.arrived % 2] = note;
  line.arrived.store(parts.arrived, std::memory_order_seq_cst);
  parts.wait(note);
  parts.compare(note);
}

}  // namespace ddl
