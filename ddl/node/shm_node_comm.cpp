// SPDX-License-Identifier: MIT
#include "ddl/node/shm_node_comm.hpp"

#include "ddl/core/fixed_text.hpp"
#include "ddl/core/process_id.hpp"
#include "ddl/core/rounding.hpp"
#include "ddl/error.hpp"
#include "ddl/node/shm_segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

namespace ddl {
namespace {

using ShmClock = std::chrono::steady_clock;
constexpr auto liveness_interval = std::chrono::milliseconds(100);
constexpr auto max_shm_sleep = std::chrono::microseconds(500);

// Where the host's ranks agree on their blocks: one for each rank, the first one's name is used. The entry
// of a block stays until all ranks have the next but one; no rank is further ahead.
struct ShmControlBlock {
  struct Announcement {
    std::atomic<std::int32_t> problem;  // an errno
    char name[64];
  };
  std::atomic<std::uint64_t> named;   // blocks that the first rank has given a name
  std::atomic<std::uint64_t> made;    // blocks that it has made under that name, or could not make
  std::atomic<std::uint64_t> opened;  // blocks that this rank has, or could not get
  Announcement announced[2];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// What a rank publishes to the other ranks of its host at the start.
struct ShmPeer {
  ProcessId process;
  std::string name;  // that the first rank gives its block
  std::string text() const { return fmt::format("{} {} {}", process.pid, process.started, name); }
};

ShmPeer parse_shm_peer(const std::string& text) {
  std::istringstream words(text);
  ShmPeer peer;
  words >> peer.process.pid >> peer.process.started >> peer.name;
  return peer;
}

class ShmBuffer : public SharedBuffer {
 public:
  ShmBuffer(ShmSegment memory, std::size_t bytes, std::size_t stride)
      : memory_(std::move(memory)), bytes_(bytes), stride_(stride) {}
  std::span<std::byte> part(int local_rank) const override {
    return memory_.bytes().subspan(stride_ * static_cast<std::size_t>(local_rank), bytes_);
  }

 private:
  ShmSegment memory_;
  std::size_t bytes_;
  std::size_t stride_;
};

class ShmNodeComm : public NodeComm {
 public:
  ShmNodeComm(const GatherStrings& gather, const Grid& grid, int rank, double timeout_seconds);

  int local_rank() const override { return me_; }
  int local_size() const override { return static_cast<int>(names_.size()); }
  std::shared_ptr<SharedBuffer> allocate(std::size_t bytes) override;
  bool alive(int local_rank) const override {
    const auto at = static_cast<std::size_t>(local_rank);
    return is_running(marks_[at], seen_[at]);
  }
  std::string state_of(int local_rank) const override {
    const auto at = static_cast<std::size_t>(local_rank);
    return seen_[at] ? describe_process(marks_[at]) : "";
  }
  std::string name_of(int local_rank) const override { return names_[static_cast<std::size_t>(local_rank)]; }

 private:
  ShmControlBlock& control(int local_rank) const {
    return *reinterpret_cast<ShmControlBlock*>(controls_.bytes().data() +
                                               static_cast<std::size_t>(local_rank) * page_bytes);
  }
  int open_buffer(std::size_t bytes, std::size_t stride, ShmSegment& memory, ShmName& name);
  template <typename HasCome>
  void wait_for_local_ranks(const HasCome& has_arrived);
  Error no_memory(std::size_t bytes, int problem) const;

  int me_ = 0;
  std::vector<std::string> names_;
  std::vector<ProcessId> marks_;
  std::vector<bool> seen_;
  std::chrono::duration<double> timeout_;
  ShmSegment controls_;
  std::uint64_t blocks_ = 0;
};

ShmNodeComm::ShmNodeComm(const GatherStrings& gather, const Grid& grid, int rank, double timeout_seconds)
    : timeout_(timeout_seconds) {
  const Place place = grid.place(rank);
  me_ = place.local_rank;
  for (const int each : place.local_ranks) names_.push_back(grid.name_of(each));
  const std::size_t bytes = names_.size() * page_bytes;
  ShmPeer mine;
  mine.process = this_process_id();
  if (me_ == 0) mine.name = ShmName::random().text();
  const std::vector<std::string> cards = gather(mine.text());
  ShmName name;
  for (const int each : place.local_ranks) {
    const ShmPeer peer = parse_shm_peer(cards[static_cast<std::size_t>(each)]);
    if (marks_.empty()) name = ShmName::of_peer(peer.name);
    marks_.push_back(peer.process);
    seen_.push_back(is_running(peer.process, true));
  }
  int problem = me_ == 0 ? controls_.create(name, bytes) : 0;
  const std::vector<std::string> made = gather(fmt::format("{}", problem));
  if (me_ != 0) problem = std::atoi(made[static_cast<std::size_t>(place.local_ranks.front())].c_str());
  if (me_ != 0 && problem == 0) problem = controls_.open(name, bytes);
  if (problem == 0) problem = controls_.reserve(static_cast<std::size_t>(me_) * page_bytes, page_bytes);
  // The names may go when all have opened them.
  const std::vector<std::string> problems = gather(fmt::format("{}", problem));
  for (const int each : place.local_ranks) {
    const int theirs = std::atoi(problems[static_cast<std::size_t>(each)].c_str());
    if (theirs != 0) throw no_memory(page_bytes, theirs);
  }
  // Over TCP the answers come from rank 0, which may leave this rank's own out.
  if (problem != 0) throw no_memory(page_bytes, problem);
  controls_.close_file();
}

Error ShmNodeComm::no_memory(std::size_t bytes, int problem) const {
  return {Fault::unsupported,
          fmt::format("cannot allocate {} bytes of shared memory for each of {} ranks: {}", bytes,
                      names_.size(), std::strerror(problem)),
          names_[static_cast<std::size_t>(me_)],
          "see the size of /dev/shm (df -h /dev/shm), or allocate less; all ranks of a host run as one user"};
}

template <typename HasCome>
void ShmNodeComm::wait_for_local_ranks(const HasCome& has_arrived) {
  const auto begun = ShmClock::now();
  auto next_check = begun + liveness_interval;
  std::chrono::microseconds nap{1};
  for (int local = 0; local < local_size(); ++local) {
    while (!has_arrived(local)) {
      std::this_thread::sleep_for(nap);
      nap = std::min(2 * nap, max_shm_sleep);
      const auto now = ShmClock::now();
      if (now < next_check) continue;
      next_check = now + liveness_interval;
      const bool gone = !alive(local) && !has_arrived(local);
      if (!gone && now - begun < timeout_) continue;
      throw Error(
          Fault::lost,
          gone ? fmt::format("{} ended before it came to allocate", name_of(local))
               : fmt::format("{} has not come to allocate within {:g} s", name_of(local), timeout_.count()),
          name_of(local), "look for that rank's own message; all ranks of a host allocate together");
    }
  }
}

// The first rank publishes a name, then makes the file of that name; returns 0 or an errno.
int ShmNodeComm::open_buffer(std::size_t bytes, std::size_t stride, ShmSegment& memory, ShmName& name) {
  ShmControlBlock& first = control(0);
  ShmControlBlock::Announcement& announced = first.announced[blocks_ % 2];
  int problem = 0;
  const auto wait_for_first = [&](const std::atomic<std::uint64_t>& count) {
    wait_for_local_ranks(
        [&](int local) { return local != 0 || count.load(std::memory_order_acquire) >= blocks_; });
  };
  if (me_ == 0) {
    name = ShmName::random();
    store_text(announced.name, name.text());
    first.named.store(blocks_, std::memory_order_release);
    problem = memory.create(name, bytes);
    announced.problem = problem;
    first.made.store(blocks_, std::memory_order_release);
  } else {
    wait_for_first(first.named);
    name = ShmName::of_peer(text_in(announced.name));
    wait_for_first(first.made);
    problem = announced.problem;
    if (problem == 0) problem = memory.open(name, bytes);
  }
  return problem != 0 ? problem : memory.reserve(stride * static_cast<std::size_t>(me_), stride);
}

std::shared_ptr<SharedBuffer> ShmNodeComm::allocate(std::size_t bytes) {
  const std::size_t stride = std::max(round_up(bytes, page_bytes), page_bytes);
  ++blocks_;
  ShmSegment memory;
  ShmName name;  // goes when all have opened it, or when this fails
  const int problem = open_buffer(stride * names_.size(), stride, memory, name);
  if (me_ != 0 || problem != 0) control(me_).announced[blocks_ % 2].problem = problem;
  control(me_).opened.store(blocks_, std::memory_order_release);
  wait_for_local_ranks(
      [&](int local) { return control(local).opened.load(std::memory_order_acquire) >= blocks_; });
  for (int local = 0; local < local_size(); ++local) {
    const int theirs = control(local).announced[blocks_ % 2].problem;
    if (theirs != 0) throw no_memory(bytes, theirs);
  }
  if (problem != 0) throw no_memory(bytes, problem);
  memory.close_file();
  return std::make_shared<ShmBuffer>(std::move(memory), bytes, stride);
}

}  // namespace

std::unique_ptr<NodeComm> make_shm_node_comm(const GatherStrings& gather, const Grid& grid, int rank,
                                             double timeout_seconds) {
  return std::make_unique<ShmNodeComm>(gather, grid, rank, timeout_seconds);
}

}  // namespace ddl
