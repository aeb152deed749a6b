// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_socket.hpp"

#include "ddl/error.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace ddl {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList find_addresses(const std::string& host, const std::string& port, std::string& problem) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
  if (code != 0) problem = fmt::format("{}: {}", host, gai_strerror(code));
  return {code == 0 ? found : nullptr, &freeaddrinfo};
}

Socket open_socket(const addrinfo& address) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket && (errno == EMFILE || errno == ENFILE))
    throw Error(Fault::unsupported, fmt::format("no more connections: {}", std::strerror(errno)), "",
                "ulimit -n 65536");
  return socket;
}

void set_option(const Socket& socket, int level, int name, int value) {
  setsockopt(socket.fd(), level, name, &value, sizeof(value));
}

// Waits for `events`; false when the deadline comes first.
bool wait_for_events(const Socket& socket, short events, TcpClock::time_point deadline) {
  while (true) {
    pollfd one{socket.fd(), events, 0};
    const int ready = poll(&one, 1, milliseconds_until(deadline, 1000));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (TcpClock::now() >= deadline) return false;
  }
}

TcpAddress render_address(const sockaddr_storage& address, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(), port.data(),
                  port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {"?", "?"};
  return {host.data(), port.data()};
}

// `move` is recv or send of one part.
template <typename Byte, typename Move>
bool move_whole(const Socket& socket, std::span<Byte> bytes, short events, TcpClock::time_point deadline,
                const Move& move) {
  while (!bytes.empty()) {
    const ssize_t transferred = move(socket.fd(), bytes.data(), bytes.size());
    if (transferred > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(transferred));
    } else if (transferred == 0 || (errno != EAGAIN && errno != EINTR)) {
      return false;
    } else if (!wait_for_events(socket, events, deadline)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void Socket::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Socket listen_at(const std::string& host, const std::string& port) {
  std::string problem;
  const AddressList addresses = find_addresses(host, port, problem);
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    Socket socket = open_socket(*each);
    if (!socket) continue;
    set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(socket.fd(), each->ai_addr, each->ai_addrlen) == 0 && listen(socket.fd(), SOMAXCONN) == 0)
      return socket;
    problem = std::strerror(errno);
  }
  throw Error(
      Fault::usage, fmt::format("this rank cannot listen at {}:{}: {}", host, port, problem),
      fmt::format("{}:{}", host, port),
      "DDL_MASTER with an address of the host on which rank 0 runs (ip address) and a free port (ss -ltn)");
}

std::optional<Socket> try_connect(const std::string& host, const std::string& port,
                                  TcpClock::time_point deadline, std::string& problem) {
  const AddressList addresses = find_addresses(host, port, problem);
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    Socket socket = open_socket(*each);
    if (!socket) continue;
    int code = connect(socket.fd(), each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (code == EINPROGRESS) {
      // One address that answers nothing must not use up the time of the others.
      const auto patience = std::min(deadline, TcpClock::now() + std::chrono::seconds(3));
      socklen_t length = sizeof(code);
      if (!wait_for_events(socket, POLLOUT, patience))
        code = ETIMEDOUT;
      else
        getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &code, &length);
    }
    if (code == 0) return socket;
    problem = std::strerror(code);
  }
  return std::nullopt;
}

std::optional<Socket> accept_one(const Socket& listener) {
  Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket) return socket;
  if (errno == EMFILE || errno == ENFILE)
    throw Error(Fault::unsupported, fmt::format("no more connections: {}", std::strerror(errno)), "",
                "ulimit -n 65536");
  return std::nullopt;
}

void configure_connection(const Socket& socket, double timeout_seconds) {
  constexpr int probes = 4;
  const int seconds = std::max(1, static_cast<int>(timeout_seconds));
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(1, seconds / 2));
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / (2 * probes)));
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, probes);
}

std::string TcpAddress::text() const {
  return host.find(':') == std::string::npos ? host + ":" + port : "[" + host + "]:" + port;
}

TcpAddress local_address(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length);
  return render_address(address, length);
}

TcpAddress peer_address(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length);
  return render_address(address, length);
}

bool read_whole(const Socket& socket, std::span<std::byte> bytes, TcpClock::time_point deadline) {
  return move_whole(socket, bytes, POLLIN, deadline,
                    [](int fd, std::byte* data, std::size_t size) { return recv(fd, data, size, 0); });
}

bool write_whole(const Socket& socket, std::span<const std::byte> bytes, TcpClock::time_point deadline) {
  return move_whole(socket, bytes, POLLOUT, deadline, [](int fd, const std::byte* data, std::size_t size) {
    return send(fd, data, size, MSG_NOSIGNAL);
  });
}

int milliseconds_until(TcpClock::time_point deadline, int most) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - TcpClock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, most));
}

}  // namespace ddl
