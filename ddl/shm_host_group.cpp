// SPDX-License-Identifier: MIT
#include "ddl/shm_host_group.hpp"

#include "ddl/error.hpp"
#include "ddl/fixed_text.hpp"
#include "ddl/process_mark.hpp"
#include "ddl/rounding.hpp"
#include "ddl/shm_segment.hpp"

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
constexpr auto between_looks_at_marks = std::chrono::milliseconds(100);
constexpr auto longest_shm_nap = std::chrono::microseconds(500);

// Where the host's ranks agree on their blocks: one for each rank, the first one's name is used. What is told
// of a block stays until all have the next but one, and nobody is further ahead.
struct ShmDesk {
  struct Told {
    std::atomic<std::int32_t> problem;  // an errno
    char name[64];
  };
  std::atomic<std::uint64_t> named;   // blocks that the first rank has given a name
  std::atomic<std::uint64_t> opened;  // blocks that this rank has, or could not get
  Told told[2];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// What a rank tells the others of its host at the start.
struct ShmCard {
  ProcessMark process;
  int problem = 0;
  std::string name;
  std::string text() const { return fmt::format("{} {} {} {}", process.pid, process.started, problem, name); }
};

ShmCard parse_shm_card(const std::string& text) {
  std::istringstream words(text);
  ShmCard card;
  words >> card.process.pid >> card.process.started >> card.problem >> card.name;
  return card;
}

class ShmBlock : public SharedBlock {
 public:
  ShmBlock(ShmSegment memory, std::size_t bytes, std::size_t stride)
      : memory_(std::move(memory)), bytes_(bytes), stride_(stride) {}
  std::span<std::byte> part(int local_rank) const override {
    return memory_.bytes().subspan(stride_ * static_cast<std::size_t>(local_rank), bytes_);
  }

 private:
  ShmSegment memory_;
  std::size_t bytes_;
  std::size_t stride_;
};

class ShmHostGroup : public HostGroup {
 public:
  ShmHostGroup(const GatherTexts& gather, const Grid& grid, int rank, double timeout_seconds);

  int local_rank() const override { return me_; }
  int local_size() const override { return static_cast<int>(names_.size()); }
  std::shared_ptr<SharedBlock> allocate(std::size_t bytes) override;
  bool alive(int local_rank) const override {
    const auto at = static_cast<std::size_t>(local_rank);
    return still_runs(marks_[at], seen_[at]);
  }
  std::string state_of(int local_rank) const override {
    const auto at = static_cast<std::size_t>(local_rank);
    return seen_[at] ? render_state(marks_[at]) : "";
  }
  std::string name_of(int local_rank) const override { return names_[static_cast<std::size_t>(local_rank)]; }

 private:
  ShmDesk& desk(int local_rank) const {
    return *reinterpret_cast<ShmDesk*>(desks_.bytes().data() +
                                       static_cast<std::size_t>(local_rank) * page_bytes);
  }
  int open_block(std::size_t bytes, std::size_t stride, ShmSegment& memory, ShmName& name);
  template <typename HasCome>
  void wait_for_mates(const HasCome& has_come);
  Error no_memory(std::size_t bytes, int problem) const;

  int me_ = 0;
  std::vector<std::string> names_;
  std::vector<ProcessMark> marks_;
  std::vector<bool> seen_;
  std::chrono::duration<double> timeout_;
  ShmSegment desks_;
  std::uint64_t blocks_ = 0;
};

ShmHostGroup::ShmHostGroup(const GatherTexts& gather, const Grid& grid, int rank, double timeout_seconds)
    : timeout_(timeout_seconds) {
  const Place place = grid.place(rank);
  me_ = place.local_rank;
  for (const int each : place.local_ranks) names_.push_back(grid.name_of(each));
  const std::size_t bytes = names_.size() * page_bytes;
  ShmName name;
  ShmCard mine;
  mine.process = mark_this_process();
  if (me_ == 0) mine.problem = desks_.create(bytes, name);
  mine.name = name.text();
  const std::vector<std::string> cards = gather(mine.text());
  ShmCard first;
  for (const int each : place.local_ranks) {
    const ShmCard card = parse_shm_card(cards[static_cast<std::size_t>(each)]);
    if (marks_.empty()) first = card;
    marks_.push_back(card.process);
    seen_.push_back(still_runs(card.process, true));
  }
  int problem = first.problem;
  if (me_ != 0) {
    name = ShmName(first.name);
    if (problem == 0) problem = desks_.open(first.name, bytes);
  }
  if (problem == 0) problem = desks_.reserve(static_cast<std::size_t>(me_) * page_bytes, page_bytes);
  // The names may go when all have opened them.
  const std::vector<std::string> problems = gather(fmt::format("{}", problem));
  for (const int each : place.local_ranks) {
    const int theirs = std::atoi(problems[static_cast<std::size_t>(each)].c_str());
    if (theirs != 0) throw no_memory(page_bytes, theirs);
  }
  desks_.close_file();
}

Error ShmHostGroup::no_memory(std::size_t bytes, int problem) const {
  return {Fault::unsupported,
          fmt::format("{} ranks of this host get no {} bytes each of shared memory: {}", names_.size(), bytes,
                      std::strerror(problem)),
          names_[static_cast<std::size_t>(me_)],
          "see the size of /dev/shm (df -h /dev/shm), or allocate less; all ranks of a host run as one user"};
}

template <typename HasCome>
void ShmHostGroup::wait_for_mates(const HasCome& has_come) {
  const auto begun = ShmClock::now();
  auto next_look = begun + between_looks_at_marks;
  std::chrono::microseconds nap{1};
  for (int mate = 0; mate < local_size(); ++mate) {
    while (!has_come(mate)) {
      std::this_thread::sleep_for(nap);
      nap = std::min(2 * nap, longest_shm_nap);
      const auto now = ShmClock::now();
      if (now < next_look) continue;
      next_look = now + between_looks_at_marks;
      const bool gone = !alive(mate) && !has_come(mate);
      if (!gone && now - begun < timeout_) continue;
      throw Error(
          Fault::lost,
          gone ? fmt::format("{} ended before it came to allocate", name_of(mate))
               : fmt::format("{} has not come to allocate within {:g} s", name_of(mate), timeout_.count()),
          name_of(mate), "look for that rank's own message; all ranks of a host allocate together");
    }
  }
}

// The first rank makes it and tells its name; returns 0 or an errno.
int ShmHostGroup::open_block(std::size_t bytes, std::size_t stride, ShmSegment& memory, ShmName& name) {
  ShmDesk& first = desk(0);
  ShmDesk::Told& told = first.told[blocks_ % 2];
  int problem = 0;
  if (me_ == 0) {
    problem = memory.create(bytes, name);
    told.problem = problem;
    keep_text(told.name, name.text());
    first.named.store(blocks_, std::memory_order_release);
  } else {
    wait_for_mates(
        [&](int mate) { return mate != 0 || first.named.load(std::memory_order_acquire) >= blocks_; });
    const std::string theirs = text_in(told.name);
    problem = told.problem;
    if (problem == 0) problem = memory.open(theirs, bytes);
    if (problem == 0) name = ShmName(theirs);
  }
  return problem != 0 ? problem : memory.reserve(stride * static_cast<std::size_t>(me_), stride);
}

std::shared_ptr<SharedBlock> ShmHostGroup::allocate(std::size_t bytes) {
  const std::size_t stride = std::max(round_up(bytes, page_bytes), page_bytes);
  ++blocks_;
  ShmSegment memory;
  ShmName name;  // goes when all have opened it, or when this fails
  const int problem = open_block(stride * names_.size(), stride, memory, name);
  if (me_ != 0 || problem != 0) desk(me_).told[blocks_ % 2].problem = problem;
  desk(me_).opened.store(blocks_, std::memory_order_release);
  wait_for_mates([&](int mate) { return desk(mate).opened.load(std::memory_order_acquire) >= blocks_; });
  for (int mate = 0; mate < local_size(); ++mate) {
    const int theirs = desk(mate).told[blocks_ % 2].problem;
    if (theirs != 0) throw no_memory(bytes, theirs);
  }
  memory.close_file();
  return std::make_shared<ShmBlock>(std::move(memory), bytes, stride);
}

}  // namespace

std::unique_ptr<HostGroup> make_shm_host_group(const GatherTexts& gather, const Grid& grid, int rank,
                                               double timeout_seconds) {
  return std::make_unique<ShmHostGroup>(gather, grid, rank, timeout_seconds);
}

}  // namespace ddl
