// SPDX-License-Identifier: MIT
#include "base/os/posix_sockets.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ddlrun {

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<sockaddr_in> socket_address(const std::string& address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &result.sin_addr) != 1) return std::nullopt;
  return result;
}

std::pair<Socket, std::string> bind_socket(int type, std::uint16_t port) {
  Socket socket(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {Socket(), std::strerror(errno)};
  const int on = 1;
  if (type == SOCK_STREAM) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(port);
  const bool bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)) == 0;
  if (!bound || (type == SOCK_STREAM && ::listen(socket.get(), 64) != 0))
    return {Socket(), std::strerror(errno)};
  return {std::move(socket), ""};
}

bool wait_ready(int descriptor, short events, Deadline deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd entry{descriptor, events, 0};
    const int code = ::poll(&entry, 1, static_cast<int>(std::max<long>(left, 0)));
    if (code > 0) return true;
    if (code == 0 || errno != EINTR) return false;
  }
}

Connected connect_socket(const sockaddr_in& address, Deadline deadline) {
  Connected result{Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), 0};
  if (!result.socket) return {Socket(), errno};
  if (::connect(result.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    return result;
  if (errno != EINPROGRESS) return {Socket(), errno};
  if (!wait_ready(result.socket.get(), POLLOUT, deadline)) return {Socket(), ETIMEDOUT};
  socklen_t size = sizeof(result.error);
  ::getsockopt(result.socket.get(), SOL_SOCKET, SO_ERROR, &result.error, &size);
  return result;
}

std::optional<std::string> receive_line(int descriptor, std::size_t limit, Deadline deadline) {
  std::string line;
  while (line.size() < limit) {
    char letter = 0;
    const ssize_t n = ::recv(descriptor, &letter, 1, 0);  // lines are short: what follows is left alone
    if (n == 1 && letter == '\n') return line;
    if (n == 1) line += letter;
    if (n == 1 || (n < 0 && errno == EINTR)) continue;
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return std::nullopt;
    if (!wait_ready(descriptor, POLLIN, deadline)) return std::nullopt;
  }
  return std::nullopt;
}

bool send_text(int descriptor, std::string_view text, Deadline deadline) {
  while (!text.empty()) {
    const ssize_t n = ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
    if (!wait_ready(descriptor, POLLOUT, deadline)) return false;
  }
  return true;
}

std::string PosixNetworkAccess::try_listen(std::uint16_t port) {
  return bind_socket(SOCK_STREAM, port).second;
}

}  // namespace ddlrun
