// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_peer_comm.hpp"

#include "ddl/error.hpp"
#include "ddl/transport/level_comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <unordered_map>

namespace ddl {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds tcp_spin_time{20};      // a message that is on its way over a fast link
constexpr milliseconds tcp_inspect_after{50};  // then others may want to know for whom this rank waits
constexpr milliseconds tcp_max_sleep{20};      // what comes on any connection ends it
constexpr milliseconds failure_grace_tcp{
    100};  // the ended rank may have sent a reason, or another rank has one

class TcpPeerComm : public LevelComm {
 public:
  TcpPeerComm(TcpMesh& mesh, const Grid& grid, Level level, std::uint32_t channel, double timeout_seconds)
      : LevelComm(grid, std::move(level), timeout_seconds), mesh_(mesh), channel_(channel) {}
  // Others' memory may go with the wire.
  ~TcpPeerComm() override {
    if (!messages_.empty()) mesh_.abandon();
  }
  TcpPeerComm(const TcpPeerComm&) = delete;
  TcpPeerComm& operator=(const TcpPeerComm&) = delete;

  Ticket send(int to, std::span<const std::byte> bytes) override {
    if (broken_) throw Error(*broken_);
    return keep(to, true, link(to).send(channel_, call_id_, bytes));
  }
  Ticket receive(int from, std::span<std::byte> bytes) override {
    if (broken_) throw Error(*broken_);
    return keep(from, false, link(from).receive(channel_, call_id_, bytes));
  }
  void wait(Ticket ticket) override {
    if (broken_) throw Error(*broken_);
    const TcpMessage message = messages_.at(ticket);
    try {
      wait_for(message);
    } catch (const Error& error) {
      broken_ = error;
      mesh_.abandon();
      messages_.clear();
      throw;
    }
    messages_.erase(ticket);
  }

 private:
  struct TcpMessage {
    int peer = 0;
    bool is_send = false;
    TcpPostPointer post;
  };
  TcpConnection& link(int peer) {
    TcpConnection* found = mesh_.connection_to(job_rank(peer));
    if (found == nullptr) throw mesh_.lost(job_rank(peer));
    return *found;
  }
  Ticket keep(int peer, bool is_send, TcpPostPointer post) {
    messages_.emplace(next_, TcpMessage{peer, is_send, std::move(post)});
    return next_++;
  }

  void wait_for(const TcpMessage& message) {
    TcpPost& post = *message.post;
    TcpConnection& connection = link(message.peer);
    const auto begun = TcpClock::now();
    StallTimer stall(watch_);
    std::optional<Error> blame;
    const auto seconds_since = [](TcpClock::time_point start) {
      return std::chrono::duration<double>(TcpClock::now() - start).count();
    };
    while (!post.done) {
      const auto waited = TcpClock::now() - begun;
      if (waited < tcp_spin_time) {
        connection.read();
        connection.write();
        continue;
      }
      mesh_.progress(waited < tcp_inspect_after ? tcp_inspect_after : tcp_max_sleep);
      if (post.done) break;
      if (!connection.is_open()) throw_peer_failure(message, job_rank(message.peer));
      if (const int gone = mesh_.find_lost(); gone >= 0) throw_peer_failure(message, gone);
      if (inspector_ != nullptr && waited >= tcp_inspect_after) inspector_->poll(job_rank(message.peer));
      if (seconds_since(std::max(begun, post.transferred)) > timeout_seconds_) {
        if (blame) throw Error(*blame);
        blame =
            late(message.peer, message.is_send);  // to ask takes a while: one more look before it is thrown
        continue;
      }
      stall.waited(seconds_since(begun), [&] { return stall_of(message.peer, message.is_send); });
    }
    if (stall.reported()) stall.over(seconds_since(begun));
    if (post.is_mismatch) throw mismatch(message.peer);
  }

  // The verdict of another rank, if it comes in time; else that `gone` is lost.
  [[noreturn]] void throw_peer_failure(const TcpMessage& message, int gone) {
    const auto end = TcpClock::now() + failure_grace_tcp;
    while (inspector_ != nullptr && TcpClock::now() < end) {
      inspector_->poll(job_rank(message.peer));
      std::this_thread::sleep_for(milliseconds(3));
    }
    const TcpConnection* const connection = mesh_.connection_to(gone);
    const bool exited = inspector_ != nullptr && inspector_->has_exited(gone);
    if (!exited && (connection == nullptr || connection->end() != TcpConnection::End::clean))
      throw mesh_.lost(gone);
    throw make_end_error(exited ? ContextEnd::by_exit : ContextEnd::in_order, mesh_.name_of(gone), 1,
                         call_ ? call_() : "this call");
  }

  TcpMesh& mesh_;
  std::uint32_t channel_;
  Ticket next_ = 0;
  std::unordered_map<Ticket, TcpMessage> messages_;
};

}  // namespace

std::unique_ptr<PeerComm> make_tcp_peer_comm(TcpMesh& mesh, const Grid& grid, Level level,
                                             std::uint32_t channel, double timeout_seconds) {
  return std::make_unique<TcpPeerComm>(mesh, grid, std::move(level), channel, timeout_seconds);
}

}  // namespace ddl
