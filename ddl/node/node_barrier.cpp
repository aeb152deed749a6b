// SPDX-License-Identifier: MIT
#include "ddl/node/node_barrier.hpp"

#include "ddl/core/call_record.hpp"
#include "ddl/core/core_shortage.hpp"
#include "ddl/core/fixed_text.hpp"
#include "ddl/core/liveness_inspector.hpp"
#include "ddl/node/futex.hpp"

#include <fmt/format.h>
#include <sched.h>

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

constexpr auto spin_time = std::chrono::microseconds(20);
constexpr auto yield_time = std::chrono::microseconds(200);
// A yield that takes this long gave the core to a stranger; then sleeping is faster, for who wakes is let in
// first.
constexpr auto preempted_after = std::chrono::microseconds(500);
constexpr std::uint32_t rendezvous_without_yield = 64;
constexpr auto check_period = std::chrono::milliseconds(100);

}  // namespace

// One for each rank, at the start of its part. The lines under "common" are used in rank 0's part only.
struct NodeBarrier::Shared {
  // arrived: how often this rank has come; its note of that time is notes[arrived % 2], for a rank is at most
  // one meeting ahead of the others.
  struct alignas(64) Line {
    Flag arrived;
    CallRecord records[2];
  } line;
  struct alignas(64) Tensors {
    char names[2][64];  // as the records
  } tensors;
  struct alignas(64) State {
    std::atomic<std::uint64_t> number;
    Flag ended;  // a ContextEnd
  } state;
  struct alignas(64) Cpus {
    std::uint64_t mask[16];
  } cpus;
  // common
  struct alignas(64) Wakeup {
    Flag generation;
  } wakeup;
  struct alignas(64) Sleepers {
    Flag count;
  } sleepers;
  struct alignas(64) FailureReport {
    Flag state;  // 0 none, 1 being written, 2 to be read
    std::uint32_t fault;
    char what[768];
    char where[512];
    char hint[512];
  } failure;
};

struct NodeBarrier::Impl {
  NodeComm& group;
  std::shared_ptr<SharedBuffer> block;
  std::chrono::duration<double> timeout;
  std::string suffix;
  std::vector<Shared*> ranks = {};
  std::uint32_t arrived = 0;
  bool oversubscribed = false;
  std::uint32_t no_yield = 0;  // for so many meetings
  StallWatch watch = {};
  LivenessInspector* inspector = nullptr;
  std::vector<int> job_ranks = {};  // by local rank; empty without a roll

  Shared& mine() const { return *ranks[static_cast<std::size_t>(group.local_rank())]; }
  Shared& common() const { return *ranks[0]; }

  bool has_arrived(std::size_t rank) const {
    const std::uint32_t theirs = ranks[rank]->line.arrived.load(std::memory_order_seq_cst);
    return static_cast<std::int32_t>(theirs - arrived) >= 0;
  }
  // Goes on from `first`: those before it have come.
  bool all_arrived(std::size_t& first) const {
    while (first < ranks.size() && has_arrived(first)) ++first;
    return first == ranks.size();
  }

  [[noreturn]] void throw_failure() const;
  void write_failure(const Error& error) const noexcept;
  [[noreturn]] void fail(const Error& error) const {
    write_failure(error);
    throw_failure();
  }
  void wait(const CallRecord& record);
  void sleep(std::size_t& first, const CallRecord& record) const;
  void check_missing_ranks(const CallRecord& record, std::chrono::duration<double> waited) const;
  bool find_blocking_rank(std::size_t rank, const CallRecord& record, bool late) const;
  Stall describe_stall(const CallRecord& record) const;
  void compare(const CallRecord& record) const;
  std::string name(const CallRecord& record) const { return render_record(record) + suffix; }
  // As a mismatch has it: with the operation, and the tensor's name at this meeting.
  std::string describe(std::size_t rank, const CallRecord& record) const {
    return describe_call(record, text_in(ranks[rank]->tensors.names[arrived % 2])) + suffix;
  }
  std::string describe_own(const CallRecord& record) const {
    return describe(static_cast<std::size_t>(group.local_rank()), record);
  }
  void count_cpus();
};

void NodeBarrier::Impl::throw_failure() const {
  group.abandon();
  const Shared::FailureReport& failure = common().failure;
  const auto begin = BarrierClock::now();
  while (failure.state.load(std::memory_order_acquire) == 1 && BarrierClock::now() - begin < check_period) {
    sched_yield();
  }
  if (failure.state.load(std::memory_order_acquire) != 2) {
    throw Error(Fault::lost, "another rank of this host failed without an error message", "",
                "look for the first error in the other ranks' output");
  }
  throw Error(static_cast<Fault>(failure.fault), failure.what, failure.where, failure.hint);
}

// The first error is kept; all sleepers are woken to read it.
void NodeBarrier::Impl::write_failure(const Error& error) const noexcept {
  Shared::FailureReport& failure = common().failure;
  std::uint32_t none = 0;
  if (!failure.state.compare_exchange_strong(none, 1)) return;
  failure.fault = static_cast<std::uint32_t>(error.fault());
  store_text(failure.what, error.what());
  store_text(failure.where, error.where());
  store_text(failure.hint, error.hint());
  failure.state.store(2);
  common().wakeup.generation.fetch_add(1);
  wake_all(common().wakeup.generation);
}

// Who has not come may wait itself, for a rank of another host. True: it has come after all.
bool NodeBarrier::Impl::find_blocking_rank(std::size_t rank, const CallRecord& record, bool late) const {
  if (inspector == nullptr) return false;
  try {
    inspector->poll(job_ranks[rank]);
    if (!late) return false;
    const LivenessInspector::Unresponsive unresponsive = inspector->find_unresponsive(job_ranks[rank]);
    if (has_arrived(rank)) return true;
    if (!unresponsive.deadlock && unresponsive.rank == job_ranks[rank]) return false;
    const std::string it = group.name_of(static_cast<int>(rank));
    throw Error(
        Fault::lost,
        fmt::format("{} has not come to {} within {:g} s: {}", it, describe_own(record), timeout.count(),
                    unresponsive.chain),
        unresponsive.deadlock ? it : unresponsive.name,
        unresponsive.deadlock ? same_calls_hint : "check whether the process runs, and read its last output");
  } catch (const Error& error) {
    fail(error);
  }
}

// Called every 100 ms by who waits.
void NodeBarrier::Impl::check_missing_ranks(const CallRecord& record,
                                            std::chrono::duration<double> waited) const {
  if (common().failure.state.load(std::memory_order_acquire) != 0) throw_failure();
  std::vector<std::string> missing;
  std::vector<std::string> dead;
  std::vector<std::string> exited;
  std::vector<std::string> ended;
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (has_arrived(rank)) continue;
    if (missing.empty()) first = rank;
    const std::string name = group.name_of(static_cast<int>(rank));
    missing.push_back(name);
    // A rank arrives, then reports its end, then its process ends. These lines read that in the other order.
    const bool is_alive = group.alive(static_cast<int>(rank));
    const auto end = static_cast<ContextEnd>(ranks[rank]->state.ended.load());
    if (has_arrived(rank)) continue;
    if (end == ContextEnd::by_exit) exited.push_back(name);
    if (end == ContextEnd::in_order) ended.push_back(name);
    if (end == ContextEnd::alive && !is_alive) dead.push_back(name);
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
                           describe_own(record)),
               named(dead), "look for that rank's own message, or a kill for memory (dmesg), further up"));
  }
  if (!exited.empty())
    fail(make_end_error(ContextEnd::by_exit, named(exited), exited.size(), describe_own(record)));
  if (!ended.empty())
    fail(make_end_error(ContextEnd::in_order, named(ended), ended.size(), describe_own(record)));
  if (!missing.empty() && find_blocking_rank(first, record, waited >= timeout)) return;
  if (!missing.empty() && waited >= timeout) {
    fail(Error(Fault::lost,
               fmt::format("{} {} not come to {} within {:g} s", named(missing),
                           missing.size() == 1 ? "has" : "have", describe_own(record), timeout.count()),
               named(missing),
               "see what that rank does: stopped, on another path of the program, or slow (then raise the "
               "timeout)" +
                   hint_core_shortage()));
  }
}

// Empty unless this rank is the first of those that wait.
Stall NodeBarrier::Impl::describe_stall(const CallRecord& record) const {
  Stall stall;
  const auto me = static_cast<std::size_t>(group.local_rank());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (has_arrived(rank) && rank < me) return {};
    if (has_arrived(rank)) continue;
    const int local = static_cast<int>(rank);
    if (stall.missing.empty()) {
      // It writes its next note into the other place, and is one meeting behind.
      stall.seen = "last in " + name(ranks[rank]->line.records[(arrived - 1) % 2]);
      const std::string process = group.state_of(local);
      if (!process.empty()) stall.seen += "; " + process;
      if (inspector != nullptr) {
        const LivenessInspector::Unresponsive unresponsive = inspector->find_unresponsive(job_ranks[rank]);
        if (unresponsive.rank != job_ranks[rank]) stall.seen += "; " + unresponsive.chain;
      }
      stall.progress = ranks[rank]->state.number.load(std::memory_order_relaxed);
    }
    stall.missing.push_back(group.name_of(local));
  }
  stall.call = name(record);
  return stall;
}

// Time in which this process itself was stopped must not count: a nap counts as twice its length at most.
void NodeBarrier::Impl::sleep(std::size_t& first, const CallRecord& record) const {
  Flag& sleepers = common().sleepers.count;
  Flag& wakeup = common().wakeup.generation;
  struct SleeperCount {
    Flag& count;
    explicit SleeperCount(Flag& flag) : count(flag) { count.fetch_add(1); }
    ~SleeperCount() { count.fetch_sub(1); }
  } const asleep(sleepers);
  BarrierClock::duration waited{};
  BarrierClock::duration next_check = check_period;
  StallTimer stall(watch);
  const auto seconds = [&] { return std::chrono::duration<double>(waited).count(); };
  while (true) {
    const std::uint32_t generation = wakeup.load();
    // After the count and the bell: who comes later sees us, or we see it.
    if (all_arrived(first)) return stall.over(seconds());
    if (common().failure.state.load(std::memory_order_acquire) != 0) throw_failure();
    const auto begin = BarrierClock::now();
    const auto left = std::chrono::duration_cast<BarrierClock::duration>(timeout) - waited;
    sleep_on(wakeup, generation,
             std::clamp<BarrierClock::duration>(left, std::chrono::milliseconds(1), check_period));
    waited += std::min<BarrierClock::duration>(BarrierClock::now() - begin, 2 * check_period);
    if (waited >= next_check || waited >= timeout) {
      check_missing_ranks(record, waited);
      stall.waited(seconds(), [&] { return describe_stall(record); });
      next_check = waited + check_period;
    }
  }
}

void NodeBarrier::Impl::wait(const CallRecord& record) {
  std::size_t first = 0;
  // Who comes last rings for those who sleep. All flags are stored and read in one order that all ranks agree
  // on (seq_cst), so the last one sees all flags here, and every sleeper in the count.
  if (all_arrived(first)) {
    if (common().sleepers.count.load() != 0) {
      common().wakeup.generation.fetch_add(1);
      wake_all(common().wakeup.generation);
    }
    return;
  }
  const auto begin = BarrierClock::now();
  if (!oversubscribed) {
    do {
      for (int i = 0; i < 32; ++i) {
        if (all_arrived(first)) return;
        relax();
      }
    } while (BarrierClock::now() - begin < spin_time);
  }
  if (no_yield != 0) {
    --no_yield;
    return sleep(first, record);
  }
  auto now = BarrierClock::now();
  do {
    sched_yield();
    const auto before = std::exchange(now, BarrierClock::now());
    if (now - before > preempted_after) no_yield = rendezvous_without_yield;
    if (all_arrived(first)) return;
  } while (now - begin < yield_time);
  sleep(first, record);
}

void NodeBarrier::Impl::compare(const CallRecord& record) const {
  const auto record_at = [&](std::size_t rank) -> const CallRecord& {
    return ranks[rank]->line.records[arrived % 2];
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (record_at(rank) == record) continue;
    // All ranks that see a difference report the same.
    std::vector<CallRecord> calls;
    for (std::size_t each = 0; each < ranks.size(); ++each) calls.push_back(record_at(each));
    const auto [odd, usual] = find_odd_call(calls);
    const std::string odd_name = group.name_of(static_cast<int>(odd));
    const std::string first_name = group.name_of(static_cast<int>(usual));
    const auto call_of = [&](std::size_t one) { return describe(one, record_at(one)); };
    fail(Error(Fault::mismatch, describe_difference(odd_name, call_of(odd), first_name, call_of(usual)),
               fmt::format("{}, {}", odd_name, first_name), same_calls_hint));
  }
}

void NodeBarrier::Impl::count_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  Shared::Cpus& my_cpus = mine().cpus;
  static_assert(sizeof(set) == sizeof(my_cpus.mask));
  if (sched_getaffinity(0, sizeof(set), &set) == 0) std::memcpy(my_cpus.mask, &set, sizeof(set));
}

NodeBarrier::NodeBarrier(NodeComm& group, std::shared_ptr<SharedBuffer> block, double timeout_seconds,
                         std::string suffix)
    : impl_(new Impl{group, std::move(block), std::chrono::duration<double>(timeout_seconds),
                     std::move(suffix)}) {
  for (int rank = 0; rank < group.local_size(); ++rank) {
    impl_->ranks.push_back(reinterpret_cast<Shared*>(impl_->block->part(rank).data()));
  }
  impl_->count_cpus();
  rendezvous({OpType::start, {}, 0, DataType::float32, 0});
  int cpus = 0;
  for (std::size_t word = 0; word < std::size(impl_->mine().cpus.mask); ++word) {
    std::uint64_t any = 0;
    for (const Shared* rank : impl_->ranks) any |= rank->cpus.mask[word];
    cpus += std::popcount(any);
  }
  impl_->oversubscribed = cpus != 0 && cpus < group.local_size();
}

NodeBarrier::~NodeBarrier() = default;

std::size_t NodeBarrier::bytes_needed() { return sizeof(Shared); }
bool NodeBarrier::oversubscribed() const { return impl_->oversubscribed; }
void NodeBarrier::set_stall_watch(StallWatch watch) { impl_->watch = std::move(watch); }
void NodeBarrier::set_inspector(LivenessInspector* inspector, std::vector<int> ranks) {
  impl_->inspector = inspector;
  impl_->job_ranks = std::move(ranks);
}
void NodeBarrier::set_progress(std::uint64_t state) noexcept {
  impl_->mine().state.number.store(state, std::memory_order_relaxed);
}
void NodeBarrier::end(ContextEnd how) noexcept {
  auto unreported = static_cast<std::uint32_t>(ContextEnd::alive);  // exit() may destroy a Context, too
  impl_->mine().state.ended.compare_exchange_strong(unreported, static_cast<std::uint32_t>(how));
}
void NodeBarrier::report_failure(const Error& error) noexcept {
  impl_->write_failure(error);
  impl_->group.abandon();
}

void NodeBarrier::check_errors() const {
  if (impl_->common().failure.state.load(std::memory_order_relaxed) != 0) impl_->throw_failure();
}

void NodeBarrier::rendezvous(const CallInfo& info) {
  Impl& impl = *impl_;
  check_errors();
  if (impl.ranks.size() == 1) return;
  const CallRecord record = record_of(info);
  Shared::Line& line = impl.mine().line;
  ++impl.arrived;
  line.records[impl.arrived % 2] = record;
  store_text(impl.mine().tensors.names[impl.arrived % 2], info.call.tensor);
  line.arrived.store(impl.arrived, std::memory_order_seq_cst);
  impl.wait(record);
  impl.compare(record);
}

}  // namespace ddl
