// SPDX-License-Identifier: MIT
// The real network door, and the small socket pieces that it is made of.
#pragma once

#include "base/os/network.hpp"

#include <netinet/in.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ddlrun {

class PosixNetworkAccess : public NetworkAccess {
 public:
  std::string try_listen(std::uint16_t port) override;
  ProbeResult probe(const NetworkProbe& probe) override;
};

// A descriptor that is closed with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

using Deadline = std::chrono::steady_clock::time_point;

std::optional<sockaddr_in> socket_address(const std::string& address, std::uint16_t port);
// Bound to all addresses; listening if it is a stream. The problem is the system's words.
std::pair<Socket, std::string> bind_socket(int type, std::uint16_t port);
// How connecting went; `error` is the errno, 0 = connected.
struct Connected {
  Socket socket;
  int error = 0;
};
Connected connect_socket(const sockaddr_in& address, Deadline deadline);
// Waits until it can be read (or written); false at the deadline.
bool wait_ready(int descriptor, short events, Deadline deadline);
// A line without its newline, at most `limit` bytes; nothing at the deadline or the end.
std::optional<std::string> receive_line(int descriptor, std::size_t limit, Deadline deadline);
bool send_text(int descriptor, std::string_view text, Deadline deadline);

}  // namespace ddlrun
