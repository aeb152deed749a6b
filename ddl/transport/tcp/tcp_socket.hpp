// SPDX-License-Identifier: MIT
// TCP connections, as much of them as ranks need: listen on one address, connect until a deadline, addresses
// as text. All are closed when a program is started by this one, and when their Socket ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace ddl {

using TcpClock = std::chrono::steady_clock;

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close() noexcept;

 private:
  int fd_ = -1;
};

// On that address only. Port "0": any. Throws Error(usage) when the address is not of this host or is taken.
Socket listen_at(const std::string& host, const std::string& port);

// One attempt; why not in `problem`. Throws Error(unsupported) when this process may open no more files.
std::optional<Socket> try_connect(const std::string& host, const std::string& port,
                                  TcpClock::time_point deadline, std::string& problem);

// A connection that has come, if any.
std::optional<Socket> accept_one(const Socket& listener);

// No delay for small messages; a peer whose host is gone is found out within `timeout_seconds` also while
// nothing is sent.
void configure_connection(const Socket& socket, double timeout_seconds);

// "10.0.0.1" and "29400" of this end or the other.
struct TcpAddress {
  std::string host;
  std::string port;
  std::string text() const;  // "10.0.0.1:29400", "[::1]:29400"
};
TcpAddress local_address(const Socket& socket);
TcpAddress peer_address(const Socket& socket);

// False when the connection ends or the deadline passes before all bytes went.
bool read_whole(const Socket& socket, std::span<std::byte> bytes, TcpClock::time_point deadline);
bool write_whole(const Socket& socket, std::span<const std::byte> bytes, TcpClock::time_point deadline);

// For poll(): 0 to `most`.
int milliseconds_until(TcpClock::time_point deadline, int most);

}  // namespace ddl
