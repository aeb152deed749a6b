// SPDX-License-Identifier: MIT
// One connection to one rank, for all that the two say to each other: messages on channels, in order on each.
// What is expected is read to where it belongs, what comes unasked is kept. Nothing here waits.
#pragma once

#include "ddl/transport/tcp/tcp_frame.hpp"
#include "ddl/transport/tcp/tcp_socket.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ddl {

// A message that is sent from or awaited in someone's memory, until it is done or withdrawn.
struct TcpPost {
  std::byte* data = nullptr;
  std::size_t size = 0;
  std::uint32_t call_id = 0;
  bool done = false;
  TcpClock::time_point transferred{};  // when bytes of it last went
  bool is_mismatch = false;            // done, but it was another message
};
using TcpPostPointer = std::shared_ptr<TcpPost>;

// A complete message without a receive buffer yet.
struct ChannelMessage {
  std::uint32_t call_id = 0;
  std::string text;
};

class TcpConnection {
 public:
  enum class End { open, clean, after_error, lost };

  explicit TcpConnection(Socket socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.fd(); }
  const Socket& socket() const { return socket_; }
  bool is_open() const { return open_; }
  bool has_to_write() const { return open_ && !sends_.empty(); }
  bool wants_to_read() const;
  // What the other side said before its connection ended.
  End end() const { return open_ ? End::open : end_; }
  const std::string& why() const { return why_; }  // "Connection reset by peer"

  TcpPostPointer send(std::uint32_t channel, std::uint32_t call_id, std::span<const std::byte> bytes);
  void send_copy(std::uint32_t channel, std::uint32_t call_id, std::string_view bytes);
  TcpPostPointer receive(std::uint32_t channel, std::uint32_t call_id, std::span<std::byte> bytes);
  // The first message of a channel on which nothing is posted.
  std::optional<ChannelMessage> take(std::uint32_t channel);

  void read();   // what has come
  void write();  // what can go
  // No caller's memory is used from now on; messages that are half sent go on from a copy.
  void withdraw();

 private:
  struct Sent {
    FrameHeaderBytes header{};
    const std::byte* data = nullptr;
    std::size_t size = 0;
    std::size_t gone = 0;  // of head and data
    TcpPostPointer post;   // null: `copy` is what is sent
    std::string copy;
  };
  struct Unexpected {
    std::uint32_t call_id = 0;
    std::size_t size = 0;
    std::unique_ptr<std::byte[]> bytes;
    bool whole = false;
  };
  struct ChannelQueue {
    std::deque<TcpPostPointer> posted;
    std::deque<Unexpected> unexpected;  // only the last may not be whole
  };

  std::byte* place_of_rest();
  void take_in(std::size_t count);
  void begin_frame();
  void finish_frame();
  void advance(std::size_t count);
  void stop(const std::string& why);

  Socket socket_;
  bool open_ = true;
  End end_ = End::lost;
  std::string why_;

  std::deque<Sent> sends_;

  FrameHeaderBytes header_bytes_{};
  std::size_t have_ = 0;  // of the head
  // The message that is arriving.
  bool arriving_ = false;
  FrameHeader header_;
  std::uint64_t got_ = 0;
  ChannelQueue* queue_ = nullptr;  // where its bytes are kept; null: posted or dropped
  TcpPostPointer posted_;          // null: kept or dropped
  std::vector<std::byte> dropped_;

  std::unordered_map<std::uint32_t, ChannelQueue> queues_;
  std::size_t unexpected_bytes_ = 0;
};

}  // namespace ddl
