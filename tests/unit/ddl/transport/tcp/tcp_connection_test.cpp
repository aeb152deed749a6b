// SPDX-License-Identifier: MIT
// Messages over a connection: cut at every byte, wrong at every bit, not requested, of another call,
// withdrawn.
#include "ddl/transport/tcp/tcp_connection.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("ddl/transport/tcp/tcp_connection");

namespace {

constexpr std::uint32_t wire_channel = ddl::channel::first_comm + 1;

struct SocketPair {
  SocketPair() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    left = ddl::Socket(ends[0]);
    right = ddl::Socket(ends[1]);
  }
  ddl::Socket left;
  ddl::Socket right;
};

std::vector<std::byte> numbered(std::size_t size, unsigned first = 0) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(first + i * 31);
  return bytes;
}

std::vector<std::byte> framed(const ddl::FrameHeader& header, const std::vector<std::byte>& bytes) {
  const ddl::FrameHeaderBytes start = ddl::render_header(header);
  std::vector<std::byte> all(start.begin(), start.end());
  all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

void push(const ddl::Socket& socket, std::span<const std::byte> bytes) {
  REQUIRE(write(socket.fd(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

// Both sides, until `done`.
template <typename Done>
bool run_until(ddl::TcpConnection& a, ddl::TcpConnection& b, const Done& done) {
  for (int i = 0; i < 100000 && !done(); ++i) {
    a.write();
    b.write();
    a.read();
    b.read();
  }
  return done();
}

}  // namespace

TEST_CASE("messages that come in two pieces, cut at every byte, posted before, between or after") {
  const std::vector<std::byte> first = numbered(13);
  const std::vector<std::byte> second = numbered(29, 100);
  std::vector<std::byte> stream = framed({wire_channel, 7, first.size()}, first);
  const std::vector<std::byte> rest = framed({wire_channel, 8, second.size()}, second);
  stream.insert(stream.end(), rest.begin(), rest.end());
  for (int when = 0; when < 3; ++when) {
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      CAPTURE(when);
      CAPTURE(cut);
      SocketPair pair;
      ddl::TcpConnection link(std::move(pair.left));
      std::vector<std::byte> one(first.size());
      std::vector<std::byte> two(second.size());
      ddl::TcpPostPointer posts[2];
      const auto post = [&](int at) {
        if (at != when) return;
        posts[0] = link.receive(wire_channel, 7, one);
        posts[1] = link.receive(wire_channel, 8, two);
      };
      post(0);
      push(pair.right, std::span(stream).first(cut));
      link.read();
      post(1);
      push(pair.right, std::span(stream).subspan(cut));
      link.read();
      post(2);
      REQUIRE((posts[0]->done && posts[1]->done));
      CHECK_FALSE((posts[0]->is_mismatch || posts[1]->is_mismatch));
      CHECK(one == first);
      CHECK(two == second);
    }
  }
}

TEST_CASE("a head with a wrong bit ends the connection") {
  const ddl::FrameHeaderBytes right = ddl::render_header({wire_channel, 7, 4});
  for (std::size_t bit = 0; bit < right.size() * 8; ++bit) {
    CAPTURE(bit);
    ddl::FrameHeaderBytes wrong = right;
    wrong[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    SocketPair pair;
    ddl::TcpConnection link(std::move(pair.left));
    push(pair.right, wrong);
    link.read();
    CHECK_FALSE(link.is_open());
    CHECK(link.end() == ddl::TcpConnection::End::lost);
    CHECK(link.why() == "it sent what is no message of libddl");
  }
}

TEST_CASE("a text that is too long to be one ends the connection before memory is taken") {
  SocketPair pair;
  ddl::TcpConnection link(std::move(pair.left));
  push(pair.right, ddl::render_header({ddl::channel::oob, 0, std::uint64_t{1} << 60}));
  link.read();
  CHECK_FALSE(link.is_open());
}

TEST_CASE("a message of another size or call is reported, and the next one is read") {
  struct Row {
    std::size_t size;
    std::uint32_t call_id;
    bool posted_before;
  };
  for (const Row& row : {Row{5, 7, true}, Row{3, 7, true}, Row{4, 6, true}, Row{5, 7, false},
                         Row{3, 7, false}, Row{4, 6, false}, Row{0, 7, true}, Row{200'000, 7, true}}) {
    CAPTURE(row.size);
    SocketPair pair;
    ddl::TcpConnection to(std::move(pair.left));
    ddl::TcpConnection from(std::move(pair.right));
    const std::vector<std::byte> sent = numbered(row.size);
    const std::vector<std::byte> next = numbered(4, 50);
    std::vector<std::byte> got(4, std::byte{0xee});
    std::vector<std::byte> got_next(4);
    ddl::TcpPostPointer post;
    if (row.posted_before) post = to.receive(wire_channel, 7, got);
    from.send(wire_channel, row.call_id, sent);
    from.send(wire_channel, 9, next);
    run_until(to, from, [&] { return !from.has_to_write(); });
    to.read();
    if (!post) post = to.receive(wire_channel, 7, got);
    const auto post_next = to.receive(wire_channel, 9, got_next);
    REQUIRE(run_until(to, from, [&] { return post->done && post_next->done; }));
    CHECK(post->is_mismatch);
    CHECK(got == std::vector<std::byte>(4, std::byte{0xee}));
    CHECK_FALSE(post_next->is_mismatch);
    CHECK(got_next == next);
  }
}

TEST_CASE("long messages both ways at once, and texts between them") {
  SocketPair pair;
  ddl::TcpConnection left(std::move(pair.left));
  ddl::TcpConnection right(std::move(pair.right));
  const std::vector<std::byte> to_right = numbered(3'000'001);
  const std::vector<std::byte> to_left = numbered(2'000'003, 9);
  std::vector<std::byte> at_right(to_right.size());
  std::vector<std::byte> at_left(to_left.size());
  const auto sent = left.send(wire_channel, 1, to_right);
  right.send(wire_channel, 2, to_left);
  left.send_copy(ddl::channel::oob, 5, "behind it");
  const auto got_left = left.receive(wire_channel, 2, at_left);
  const auto got_right = right.receive(wire_channel, 1, at_right);
  std::optional<ddl::ChannelMessage> text;
  REQUIRE(run_until(left, right, [&] {
    if (!text) text = right.take(ddl::channel::oob);
    return got_left->done && got_right->done && text.has_value();
  }));
  CHECK(sent->done);
  CHECK(at_right == to_right);
  CHECK(at_left == to_left);
  CHECK(text->text == "behind it");
  CHECK(text->call_id == 5);
  CHECK_FALSE(right.take(ddl::channel::oob));
}

TEST_CASE("after withdraw() no memory is touched, and what follows arrives") {
  SocketPair pair;
  ddl::TcpConnection from(std::move(pair.left));
  ddl::TcpConnection to(std::move(pair.right));
  const std::size_t size = 1'000'000;
  std::vector<std::byte> out = numbered(size);
  std::vector<std::byte> in(size);
  std::vector<std::byte> never(8);
  from.send(wire_channel, 1, out);
  from.send(wire_channel, 2, never);
  const auto post = to.receive(wire_channel, 1, in);
  to.read();
  REQUIRE_FALSE(post->done);
  from.withdraw();
  to.withdraw();
  std::fill(out.begin(), out.end(), std::byte{0});
  const std::vector<std::byte> before = in;
  from.send_copy(ddl::channel::oob, 0, "why");
  std::optional<ddl::ChannelMessage> text;
  REQUIRE(run_until(from, to, [&] {
    if (!text) text = to.take(ddl::channel::oob);
    return text.has_value();
  }));
  CHECK(text->text == "why");
  CHECK(in == before);
  CHECK_FALSE(post->done);
}

TEST_CASE("a half-sent message goes on from a copy") {
  SocketPair pair;
  ddl::TcpConnection from(std::move(pair.left));
  ddl::TcpConnection to(std::move(pair.right));
  std::vector<std::byte> out = numbered(1'000'000);
  const std::vector<std::byte> expected = out;
  from.send(wire_channel, 1, out);
  from.withdraw();
  std::fill(out.begin(), out.end(), std::byte{0});
  std::vector<std::byte> in(out.size());
  const auto post = to.receive(wire_channel, 1, in);
  REQUIRE(run_until(from, to, [&] { return post->done; }));
  CHECK(in == expected);
}

TEST_CASE("how a connection ended") {
  struct Row {
    const char* name;
    int goodbye;  // -1: none
    ddl::TcpConnection::End end;
  };
  for (const Row& row :
       {Row{"no word", -1, ddl::TcpConnection::End::lost}, Row{"goodbye", 0, ddl::TcpConnection::End::clean},
        Row{"after an error", 1, ddl::TcpConnection::End::after_error}}) {
    CAPTURE(row.name);
    SocketPair pair;
    ddl::TcpConnection link(std::move(pair.left));
    {
      ddl::TcpConnection other(std::move(pair.right));
      other.send_copy(ddl::channel::oob, 0, "last words");
      if (row.goodbye >= 0)
        other.send_copy(ddl::channel::goodbye, static_cast<std::uint32_t>(row.goodbye), "");
    }
    for (int i = 0; i < 10 && link.is_open(); ++i) link.read();
    CHECK(link.end() == row.end);
    const auto text = link.take(ddl::channel::oob);
    REQUIRE(text.has_value());
    CHECK(text->text == "last words");
    CHECK_FALSE(link.send(wire_channel, 1, {})->done);
  }
}

TEST_SUITE_END();
