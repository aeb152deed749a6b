// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_peer_comm.hpp"

#include "ddl/error.hpp"
#include "ddl/transport/level_comm.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <unordered_map>

namespace ddl {
namespace {

using PollClock = std::chrono::steady_clock;
using std::chrono::microseconds;

// Longer messages travel in parts: MPI counts with int, and the deadline starts anew with each part.
constexpr std::size_t part_bytes = 16 << 20;

constexpr microseconds poll_spin_time{50};  // a message that is on its way over a fast link
// Then the core is left by sleeping: who yields it to a busy stranger gets it back after a whole time slice.
// The longer it has lasted the longer a look at it may wait, for looking takes time from who computes.
constexpr microseconds max_sleep{200};
constexpr int share_of_wait = 3;
constexpr unsigned long sleep_slack = 1000;    // ns: the usual slack is 50 us
constexpr microseconds inspect_after{50'000};  // then others may want to know for whom this rank waits

void check_mpi(int code, const char* call, const std::string& where) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(Fault::lost, fmt::format("{}: {}", call, std::string(text, static_cast<std::size_t>(length))),
              where, "read the message of mpirun about that rank");
}

// While it lives this thread's sleeps end when they should.
class ShortSlack {
 public:
  ShortSlack() = default;
  ~ShortSlack() {
    if (before_ > 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_), 0, 0, 0);
  }
  ShortSlack(const ShortSlack&) = delete;
  ShortSlack& operator=(const ShortSlack&) = delete;
  void sleep(microseconds time) {
    if (before_ == 0) {
      before_ = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
      prctl(PR_SET_TIMERSLACK, sleep_slack, 0, 0, 0);
    }
    std::this_thread::sleep_for(time);
  }

 private:
  int before_ = 0;  // none was read
};

struct MpiMessage {
  int peer = 0;
  bool is_send = false;
  std::size_t bytes = 0;
  int tag = 0;
  std::vector<MPI_Request> parts;
};

class MpiPeerComm : public LevelComm {
 public:
  // Takes the communicator over.
  MpiPeerComm(MPI_Comm comm, const Grid& grid, Level level, double timeout_seconds, MpiWait wait)
      : LevelComm(grid, std::move(level), timeout_seconds), comm_(comm), wait_(wait) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    void* most = nullptr;
    int known = 0;
    MPI_Comm_get_attr(comm_, MPI_TAG_UB, static_cast<void*>(&most), &known);
    tags_ = known != 0 ? static_cast<std::uint32_t>(*static_cast<int*>(most)) : 32767;
  }
  ~MpiPeerComm() override {
    abandon();
    MPI_Comm_free(&comm_);
  }
  MpiPeerComm(const MpiPeerComm&) = delete;
  MpiPeerComm& operator=(const MpiPeerComm&) = delete;

  Ticket send(int to, std::span<const std::byte> bytes) override {
    return post(to, true, bytes.size(), [&](std::size_t at, int count, int tag, MPI_Request& request) {
      return MPI_Isend(bytes.data() + at, count, MPI_BYTE, to, tag, comm_, &request);
    });
  }
  // Any tag: a message of another size or call is taken, and found out, instead of waited for.
  Ticket receive(int from, std::span<std::byte> bytes) override {
    return post(from, false, bytes.size(), [&](std::size_t at, int count, int, MPI_Request& request) {
      return MPI_Irecv(bytes.data() + at, count, MPI_BYTE, from, MPI_ANY_TAG, comm_, &request);
    });
  }
  void wait(Ticket ticket) override {
    if (broken_) throw Error(*broken_);
    MpiMessage& message = messages_.at(ticket);
    try {
      for (MPI_Request& part : message.parts) {
        if (wait_ == MpiWait::blocks)
          block_for(message, part);
        else
          wait_part(message, part);
      }
    } catch (const Error& error) {
      broken_ = error;
      abandon();
      throw;
    }
    messages_.erase(ticket);
  }

 private:
  template <typename Start>
  Ticket post(int peer, bool is_send, std::size_t bytes, const Start& start) {
    if (broken_) throw Error(*broken_);
    MpiMessage& message = messages_[next_];
    message = {peer, is_send, bytes, tag_of(bytes), {}};
    std::size_t at = 0;
    do {
      const std::size_t count = std::min(part_bytes, bytes - at);
      message.parts.push_back(MPI_REQUEST_NULL);
      check_mpi(start(at, static_cast<int>(count), message.tag, message.parts.back()),
                is_send ? "MPI_Isend" : "MPI_Irecv", name_of(peer));
      at += count;
    } while (at < bytes);
    return next_++;
  }

  // What both sides must agree on: the size, also of a message in parts, and the call.
  int tag_of(std::size_t bytes) const {
    const std::uint64_t mixed = (static_cast<std::uint64_t>(bytes) << 32 ^ call_id_) * 0x9e3779b97f4a7c15u;
    return static_cast<int>((mixed >> 33) % (static_cast<std::uint64_t>(tags_) + 1));
  }

  void block_for(const MpiMessage& message, MPI_Request& part) {
    MPI_Status status;
    const int code = MPI_Wait(&part, &status);
    if (code != MPI_SUCCESS) throw failed(message, code);
    check_arrived(message, status);
  }

  void wait_part(const MpiMessage& message, MPI_Request& part) {
    const auto begun = PollClock::now();
    bool slept = false;
    ShortSlack slack;
    StallTimer stall(watch_);
    std::optional<Error> blame;
    for (int polls = 1;; ++polls) {
      int done = 0;
      MPI_Status status;
      const int code = MPI_Test(&part, &done, &status);
      if (code != MPI_SUCCESS) throw failed(message, code);
      if (done != 0) {
        if (stall.reported()) stall.over(std::chrono::duration<double>(PollClock::now() - begun).count());
        return check_arrived(message, status);
      }
      if (!slept && polls % 8 != 0) continue;
      const auto waited = PollClock::now() - begun;
      if (waited < poll_spin_time) continue;
      const double seconds = std::chrono::duration<double>(waited).count();
      if (inspector_ != nullptr && waited >= inspect_after) inspector_->poll(job_rank(message.peer));
      if (seconds > timeout_seconds_) {
        if (blame) throw Error(*blame);
        blame =
            late(message.peer, message.is_send);  // to ask takes a while: one more look before it is thrown
        continue;
      }
      stall.waited(seconds, [&] { return stall_of(message.peer, message.is_send); });
      slack.sleep(std::min(std::chrono::duration_cast<microseconds>(waited / share_of_wait), max_sleep));
      slept = true;
    }
  }

  void check_arrived(const MpiMessage& message, const MPI_Status& status) const {
    if (message.is_send || status.MPI_TAG == message.tag) return;
    throw mismatch(message.peer);
  }
  Error failed(const MpiMessage& message, int code) const {
    int kind = MPI_SUCCESS;
    MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_TRUNCATE) return mismatch(message.peer);
    try {
      check_mpi(code, "MPI_Test", name_of(message.peer));
    } catch (const Error& error) {
      return error;
    }
    return late(message.peer, message.is_send);
  }
  // Receives that nothing has come for are withdrawn; what has begun to arrive goes on.
  void abandon() {
    for (auto& [ticket, message] : messages_) {
      for (MPI_Request& part : message.parts) {
        if (part == MPI_REQUEST_NULL) continue;
        if (!message.is_send) MPI_Cancel(&part);
        MPI_Request_free(&part);
      }
    }
    messages_.clear();
  }

  MPI_Comm comm_;
  MpiWait wait_;
  std::uint32_t tags_ = 0;
  Ticket next_ = 0;
  std::unordered_map<Ticket, MpiMessage> messages_;
};

}  // namespace

std::vector<std::unique_ptr<PeerComm>> make_mpi_level_comms(MPI_Comm all, const Grid& grid,
                                                            double timeout_seconds, MpiWait wait) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(all, &rank), "MPI_Comm_rank", "");
  std::vector<std::unique_ptr<PeerComm>> comms;
  Place place = grid.place(rank);
  for (Level& level : place.levels) {
    MPI_Comm comm = MPI_COMM_NULL;
    const int lowest = *std::min_element(
        level.ranks.begin(), level.ranks.end());  // distinguishes this communicator from the others
    check_mpi(MPI_Comm_split(all, lowest, level.me, &comm), "MPI_Comm_split", grid.name_of(rank));
    comms.push_back(std::make_unique<MpiPeerComm>(comm, grid, std::move(level), timeout_seconds, wait));
  }
  return comms;
}

}  // namespace ddl
