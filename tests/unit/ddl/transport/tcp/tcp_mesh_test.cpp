// SPDX-License-Identifier: MIT
// A rank 0 with the token that sends what no rank of libddl sends.
#include "ddl/transport/tcp/tcp_mesh.hpp"

#include "ddl/core/peer_text.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("ddl/transport/tcp/tcp_mesh");

namespace {

const std::string token = "0123456789abcdef";
constexpr std::uint32_t failed_gather = 0xffffffff;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += std::to_string(text.size()) + " " + text;
  return all;
}

struct Reply {
  std::uint32_t call_id;  // 0: that of the question
  std::vector<std::string> texts;
};

// Rank 0 of 3: lets rank 2 in, and answers its gathers one after the other.
void serve(const ddl::Socket& listener, const std::vector<Reply>& replies) {
  const auto deadline = ddl::TcpClock::now() + std::chrono::seconds(20);
  std::map<int, ddl::Socket> accepted;
  ddl::accept_ranks(listener, {{0, 3, 0}, token, 20.0}, {2}, deadline, accepted);
  ddl::TcpConnection connection(std::move(accepted.at(2)));
  for (const Reply& reply : replies) {
    std::optional<ddl::ChannelMessage> question;
    while (!(question = connection.take(ddl::channel::gather))) {
      if (!connection.is_open() || ddl::TcpClock::now() > deadline) return;
      connection.read();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    connection.send_copy(ddl::channel::gather, reply.call_id != 0 ? reply.call_id : question->call_id,
                         joined(reply.texts));
    while (connection.has_to_write()) connection.write();
  }
  while (connection.is_open() && ddl::TcpClock::now() < deadline) {
    connection.read();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// "what | where | hint" of what rank 2 reports; else its name of rank 1.
std::string reported(const std::vector<Reply>& replies) {
  const ddl::Socket listener = ddl::listen_at("127.0.0.1", "0");
  std::thread rank_0([&] { serve(listener, replies); });
  std::string text;
  try {
    const ddl::TcpAddress address = ddl::local_address(listener);
    ddl::TcpMesh mesh({2, 3, address.host, address.port, token}, 1.0);
    text = mesh.name_of(1);
    if (replies.size() > 1) mesh.connect({1});
  } catch (const ddl::Error& error) {
    text = std::string(error.what()) + " | " + error.where() + " | " + error.hint();
  }
  rank_0.join();
  return text;
}

Reply hosts(const std::string& of_rank_1) {
  return {0, {joined({"h0", "m0", "7"}), joined({of_rank_1, "m1", "0"}), joined({"h2", "m2", "0"})}};
}

}  // namespace

TEST_CASE("control characters of another rank do not reach this rank's messages") {
  CHECK(reported({{failed_gather, {"2", "what \x1b]0;x\a", "where \x1b[31m", "hint \xc2\x9b"}}}) ==
        "what ?]0;x? | where ?[31m | hint ?");
  CHECK(reported({hosts("h\x1b[31m1")}) == "rank 1 (h?[31m1)");
  const std::string at = reported({hosts("h1"), {0, {"", joined({"127.0.0.1\x1b[31m", "1"}), ""}}});
  CAPTURE(at);
  CHECK(at.find("127.0.0.1?[31m:1") != std::string::npos);
  CHECK(at.find('\x1b') == std::string::npos);
}

TEST_CASE("an address of another rank that is none is an Error") {
  for (const std::string& address : {std::string(), joined({"127.0.0.1"}), joined({"a", "1", "2"})}) {
    CAPTURE(address);
    CHECK(reported({hosts("h1"), {0, {"", address, ""}}}) ==
          "a rank of another version of libddl | TCP bootstrap | the same libddl on all hosts");
  }
}

TEST_CASE("a fault that libddl does not have is a mismatch; text in other scripts stays") {
  CHECK(ddl::error_of_peer(2, "", "", "").fault() == ddl::Fault::lost);
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{4}, std::int64_t{1} << 32})
    CHECK(ddl::error_of_peer(number, "", "", "").fault() == ddl::Fault::mismatch);
  CHECK(ddl::printable("Zürich 서울\nß\t\x7f") == "Zürich 서울\nß??");
}

TEST_SUITE_END();
