// SPDX-License-Identifier: MIT
// A connection of libddl with a peer that has the token and then sends anything. The input is a list of
// steps, each a byte and its values: send a message whose head is right, send raw bytes, receive, take,
// withdraw.
#include "ddl/transport/tcp/tcp_connection.hpp"
#include "ddl/transport/tcp/tcp_frame.hpp"
#include "fuzz/fuzz_target.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

using namespace ddlrun;

namespace {

constexpr std::uint32_t channels[] = {ddl::channel::gather, ddl::channel::oob, ddl::channel::goodbye,
                                      ddl::channel::first_comm, ddl::channel::first_comm + 1};

void put(int fd, const void* data, std::size_t size) {
  // A peer that is refused has no reader any more.
  [[maybe_unused]] const ssize_t sent = ::send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void send_frame(int fd, std::uint32_t channel, std::uint32_t call_id, unsigned size_choice,
                std::string_view bytes) {
  // At times far larger than what follows. AddressSanitizer ends a process that asks for too much memory, so
  // a message of the ranks is not.
  const bool is_control = channel < ddl::channel::first_comm;
  const std::uint64_t size = size_choice < 250 ? size_choice : std::uint64_t{1} << (is_control ? 40U : 16U);
  const ddl::FrameHeaderBytes header = ddl::render_header({channel, call_id, size});
  put(fd, header.data(), header.size());
  put(fd, bytes.data(), bytes.size());
}

}  // namespace

DDLRUN_FUZZ_TARGET(link) {
  int ends[2];
  fuzz::require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0,
                "sockets can be made");
  const ddl::Socket peer(ends[1]);
  ddl::TcpConnection connection{ddl::Socket(ends[0])};
  std::vector<std::array<std::byte, 256>> buffers;
  buffers.reserve(64);
  std::vector<ddl::TcpPostPointer> posts;
  for (int steps = 0; !input.empty() && steps < 64; ++steps) {
    const unsigned step = fuzz::take_byte(input);
    const std::uint32_t channel = channels[step / 8 % std::size(channels)];
    const std::uint32_t call_id = step / 64;
    const unsigned size = fuzz::take_byte(input);
    const std::string_view bytes = input.substr(0, std::min<std::size_t>(size, input.size()));
    if (step % 8 < 3) {
      send_frame(peer.fd(), channel, call_id, size, bytes);
      input.remove_prefix(bytes.size());
    } else if (step % 8 == 3) {
      put(peer.fd(), bytes.data(), bytes.size());
      input.remove_prefix(bytes.size());
    } else if (step % 8 == 4 && channel >= ddl::channel::first_comm) {
      posts.push_back(
          connection.receive(channel, call_id, std::span(buffers.emplace_back()).first(size % 256)));
    } else if (step % 8 == 5) {
      connection.take(channel);
    } else if (step % 8 == 6) {
      connection.send_copy(channel, call_id, bytes);
    } else {
      connection.withdraw();
    }
    if (connection.is_open() && connection.wants_to_read()) connection.read();
  }
  for (const ddl::TcpPostPointer& post : posts)
    fuzz::require(!post->is_mismatch || post->done, "a message of another size or call ends the post");
}
