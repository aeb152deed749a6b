// SPDX-License-Identifier: MIT
#include "launch/rank/stall_detector.hpp"

#include "launch/rank/spin_wait.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

using std::chrono::milliseconds;

namespace {

// Shares of a core, on a core of 2 GHz. Who waits for other ranks uses, for all its threads: 0.1 % in Gloo
// (PyTorch 1.13; 0.2 % with 2.15), 0.16 % in a loop around sleep(0.01), 0.8 % in PyTorch's TCPStore, which
// rank 0 asks 100 times a second until all ranks have come. Who computes uses 100 %, and who waits for a disk
// moves bytes. Only a rank with a GPU may work while its CPU sleeps, for whole seconds: it counts as idle at
// less.
constexpr double polling_share = 0.02;
constexpr double polling_share_with_gpu = 0.005;
// Of its main thread, from which on a rank that sleeps looks again and again for something.
constexpr double looking_share = 0.001;
constexpr double computing_share = 0.05;  // of one that others may wait for, also where many share its core
constexpr double starved_share = 0.5;     // runnable for so much of the time: it would work, if it were let

// In a row, with CPU time of its own above the share of polls, before a rank that has been reported goes on.
// On a busy machine one sample may show that much: a poll costs more with cold caches, and waits for a core
// each time.
constexpr int samples_of_work = 3;

// The thread of a store or an event loop answers polls: in the store of PyTorch 2.4 and later it reads and
// writes 30 bytes 100 times a second. Small messages of a job look otherwise (DistributedDataParallel of 17
// floats, Gloo, PyTorch 1.13, 8 steps a second): three threads write 50 bytes a call, and none reads by a
// call that counts.
constexpr double polls_a_second = 20;
constexpr double most_bytes_of_poll = 100;
constexpr double reads_among_polls = 0.25;

using Seconds = std::chrono::duration<double>;

double core_share(std::uint64_t from, std::uint64_t to, Seconds elapsed) {
  return to > from && elapsed.count() > 0 ? static_cast<double>(to - from) / 1e9 / elapsed.count() : 0;
}

// Time in which the threads got the cores that they were ready for: only then can they poll.
Seconds unhindered(const TreeSnapshot& from, const TreeSnapshot& to, Seconds elapsed) {
  constexpr double least_part = 0.1;
  return elapsed * std::max(1 - core_share(from.delayed_ns, to.delayed_ns, elapsed), least_part);
}

bool are_polls(const IoCount& from, const IoCount& to, Seconds elapsed) {
  if (to.bytes < from.bytes || to.reads < from.reads || to.writes < from.writes) return false;
  const auto calls = static_cast<double>(to.calls() - from.calls()),
             bytes = static_cast<double>(to.bytes - from.bytes),
             reads = static_cast<double>(to.reads - from.reads);
  return calls > polls_a_second * elapsed.count() && bytes < most_bytes_of_poll * calls &&
         reads > reads_among_polls * calls;
}

// One thread moved bytes, and only for polls. A line of output is none, whichever other thread writes it.
bool one_thread_polls(const TreeSnapshot& from, const TreeSnapshot& to, Seconds elapsed) {
  const Seconds time = unhindered(from, to, elapsed);
  std::size_t polling = 0, known = 0;
  for (const auto& [thread, io] : to.io_of) {
    const auto before = from.io_of.find(thread);
    if (before != from.io_of.end()) ++known;
    const IoCount start = before == from.io_of.end() ? IoCount() : before->second;
    if (io.bytes == start.bytes) continue;
    if (!are_polls(start, io, time)) return false;
    ++polling;
  }
  return polling == 1 && known == from.io_of.size();  // a thread that ended may have moved any bytes
}

bool is_asleep(char state) { return state == 'S' || state == 'P'; }
bool is_held(char state) { return state == 'T' || state == 't' || state == 'D'; }

}  // namespace

milliseconds sample_interval(int after) {
  return std::clamp(milliseconds(after * 1000LL / 12), milliseconds(100), milliseconds(10'000));
}

StallDetector::StallDetector(int after, Time start, SampleCode sample_code)
    : every_(sample_interval(after)),
      report_after_(milliseconds(after * 1000LL) - 2 * every_),
      sample_code_(std::move(sample_code)),
      last_progress_(start),
      last_bytes_(start),
      last_idle_(start),
      last_look_(start) {}

// Cores that it used, or was ready to use.
double StallDetector::busy_share(Time now, const TreeSnapshot& sample) const {
  const Seconds elapsed = now - last_look_;
  return core_share(last_->cpu_ns, sample.cpu_ns, elapsed) +
         core_share(last_->delayed_ns, sample.delayed_ns, elapsed);
}

// CPU time that it got, which waiting does not explain.
bool StallDetector::works(Time now, const TreeSnapshot& sample) const {
  if (sample.cpu_ns < last_->cpu_ns) return true;  // one of its processes ended
  const double used = core_share(last_->cpu_ns, sample.cpu_ns, now - last_look_);
  return used > (sample.has_gpu ? polling_share_with_gpu : polling_share);
}

bool StallDetector::uses_cpu(Time now, const TreeSnapshot& sample) const {
  const bool is_runnable = sample.state == 'R' && sample.delayed_ns == 0;  // a kernel without schedstat
  return works(now, sample) || busy_share(now, sample) > starved_share || is_runnable;
}

// CPU time beside the bytes shows that they are no polls, but not of a rank that has been reported.
bool StallDetector::moves_bytes(Time now, const TreeSnapshot& sample) const {
  if (!last_) return true;
  if (sample.io.bytes == last_->io.bytes) return false;
  return (reported_ == 0 && uses_cpu(now, sample)) || !one_thread_polls(*last_, sample, now - last_look_);
}

bool StallDetector::polls(Time now, const TreeSnapshot& sample) const {
  return last_ && sample.pid == last_->pid &&
         core_share(last_->main_ns, sample.main_ns, now - last_look_) > looking_share;
}

// The library, where a rank waits at full speed; "" where it works; nothing if that is not known yet.
std::optional<std::string> StallDetector::spins_in(Time now, int pid) {
  if (!sample_code_ || now - last_bytes_ < report_after_ / 2) return "";
  for (const auto& [name, count] : sample_code_(pid)) {
    code_[name] += count;
    busy_code_[name] += count;
  }
  std::optional<std::string> library = find_spin_library(code_);
  if (library) code_.clear();
  return library;
}

// `event` is that of a rank that works. Where the kernel permits no samples, it is not known whether it does.
StallEvent StallDetector::report_work(Time now, const Stall& stall, const StallEvent& event) {
  const auto quiet = now - std::max(last_bytes_, last_idle_);
  if (event.kind != StallEvent::nothing || computes_ || quiet < report_after_) return event;
  // On a busy machine a look gives few samples.
  const bool comes_later = !busy_code_.empty() && !are_enough(busy_code_) && quiet < 2 * report_after_;
  if (comes_later) return event;
  computes_ = true;
  StallEvent work{StallEvent::computes, stall};
  work.stall.state = 'C';
  work.stall.seconds = static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(quiet).count());
  work.stall.waits_in = find_own_code(busy_code_);
  return work;
}

// We were held up ourselves: a suspended machine, a stopped group, a machine without a free core. The
// counters of such a sample count as those of others, its time as that of one sample.
void StallDetector::forgive_delay(Time now) {
  const auto elapsed = now - last_look_;
  if (elapsed <= 3 * every_ + milliseconds(1000)) return;
  for (Time* const since : {&last_progress_, &last_bytes_, &last_idle_})
    *since = std::min(now, *since + (elapsed - every_));
}

// Whether a busy sample shows that the rank goes on: at once, unless it has been reported as one that waits.
bool StallDetector::goes_on(Time now, const TreeSnapshot& sample) {
  if (reported_ == 0) return true;
  if (works(now, sample)) ++work_samples_;
  return work_samples_ >= (is_held(reported_) ? 1 : samples_of_work);
}

StallEvent StallDetector::take(Time now, const TreeSnapshot& sample) {
  if (sample.pid < 0 || sample.state == 'Z') return {};  // it has ended: its counters are gone
  Stall stall{0, sample.state, sample.pid, sample.name, sample.waits_in};
  if (stall.state == 'R') stall.state = 'S';  // for a moment, between two sleeps
  if (stall.state == 'S' && polls(now, sample)) stall.state = 'P';
  forgive_delay(now);
  const bool moves = moves_bytes(now, sample);
  if (moves) last_bytes_ = now;
  std::optional<std::string> library;
  const bool busy = !moves && uses_cpu(now, sample);
  // One that was reported still does while it gets less of its core.
  const bool computes =
      busy && busy_share(now, sample) > starved_share &&
      (computes_ || core_share(last_->cpu_ns, sample.cpu_ns, now - last_look_) > computing_share);
  if (busy) library = spins_in(now, sample.pid);
  if (!computes) last_idle_ = now;
  const bool waits = busy && library && !library->empty();
  if (!busy || waits) work_samples_ = 0;
  // Where the kernel permits no samples, one that has slept or stood may spin now: it goes on in either case.
  const bool has_stood = is_asleep(reported_) || is_held(reported_);
  const bool may_spin = !library && !(has_stood && code_.empty());
  const bool is_undecided = busy && !waits && (may_spin || !goes_on(now, sample));
  last_look_ = now;
  last_ = sample;
  if (!busy) code_.clear();
  if (!busy || waits) busy_code_.clear();
  if (is_undecided)
    return reported_ == 0 && computes && code_.empty() ? report_work(now, stall, {}) : StallEvent();
  if (waits) {
    stall.state = 'R';
    stall.waits_in = *library;
  }
  StallEvent event = report(now, stall, moves || (busy && !waits));
  if (computes && !waits) return report_work(now, stall, event);
  if (computes_ && event.kind == StallEvent::nothing) event = {StallEvent::resumed, stall};
  computes_ = false;
  return event;
}

StallEvent StallDetector::report(Time now, const Stall& stall, bool moves) {
  const auto quiet = now - last_progress_;
  StallEvent event{StallEvent::nothing, stall};
  event.stall.seconds = static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(quiet).count());
  if (moves) {
    last_progress_ = now;
    if (reported_ == 0) return {};
    reported_ = 0;
    work_samples_ = 0;
    event.kind = StallEvent::resumed;
    event.stall.waits_in.clear();
    return event;
  }
  const bool is_same = stall.state == reported_ || (is_asleep(stall.state) && is_asleep(reported_));
  if (quiet < report_after_ || is_same) return {};
  reported_ = stall.state;
  event.kind = StallEvent::stalled;
  return event;
}

}  // namespace ddlrun::launch
