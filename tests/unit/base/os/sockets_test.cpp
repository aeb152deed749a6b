// SPDX-License-Identifier: MIT
// The network door on this machine's loopback: a host that is its own neighbour.
#include "base/os/posix_sockets.hpp"
#include "base/os/probe_server.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

using namespace ddlrun;
using Kind = ProbeAnswer::Kind;

namespace {

// A port that was free a moment ago.
std::uint16_t free_port() {
  const auto [socket, problem] = bind_socket(SOCK_STREAM, 0);
  REQUIRE(problem.empty());
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

NetworkProbe self_probe() {
  NetworkProbe probe;
  probe.own_id = "me";
  probe.key = "0123456789abcdef0123456789abcdef";
  probe.ports = {free_port()};
  probe.peers = {{"me", {"127.0.0.1"}}};
  probe.networks = {{"127.0.0.1/8", 1500}};
  probe.limit = std::chrono::milliseconds(5000);
  return probe;
}

}  // namespace

TEST_SUITE_BEGIN("base/os/sockets");

TEST_CASE("a port that somebody listens on is not free") {
  PosixNetworkAccess network;
  const std::uint16_t port = free_port();
  CHECK(network.try_listen(port).empty());
  const auto [socket, problem] = bind_socket(SOCK_STREAM, port);
  REQUIRE(problem.empty());
  CHECK(network.try_listen(port) == "Address already in use");
}

TEST_CASE("neighbours that answer: connected, the path's size, a stream, and an early end") {
  NetworkProbe probe = self_probe();
  probe.stream = true;
  const auto begun = std::chrono::steady_clock::now();
  const ProbeResult result = PosixNetworkAccess().probe(probe);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(4000));
  REQUIRE(result.answers.size() == 1);
  CHECK(result.answers[0].kind == Kind::connected);
  REQUIRE(result.paths.size() == 1);
  CHECK(result.paths[0].passed == 1500);
  REQUIRE(result.rates.size() == 1);
  CHECK(result.rates[0].megabits_per_second > 10);
  CHECK(result.not_listening.empty());
}

TEST_CASE("neighbours that are not there, or not who they should be") {
  NetworkProbe probe = self_probe();
  probe.limit = std::chrono::milliseconds(800);
  probe.peers = {{"other", {"127.0.0.1"}}};
  ProbeResult result = PosixNetworkAccess().probe(probe);
  REQUIRE(result.answers.size() == 1);
  CHECK(result.answers[0].kind == Kind::another_host);
  CHECK(result.answers[0].detail == "this host itself");
  // our port is taken by a program that says nothing of ours
  const auto [socket, problem] = bind_socket(SOCK_STREAM, probe.ports[0]);
  REQUIRE(problem.empty());
  result = PosixNetworkAccess().probe(probe);
  REQUIRE(result.not_listening.size() == 1);
  CHECK(result.not_listening[0].second == "Address already in use");
}

TEST_CASE("a port that refuses, of a neighbour that is there and of one that has left") {
  const std::uint16_t refusing = free_port();
  const auto here = socket_address("127.0.0.1", refusing);
  const Socket bound(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));  // no one listens, no one else can
  REQUIRE(::bind(bound.get(), reinterpret_cast<const sockaddr*>(&*here), sizeof(*here)) == 0);
  NetworkProbe probe = self_probe();
  probe.ports.push_back(refusing);
  const auto begun = std::chrono::steady_clock::now();
  ProbeResult result = PosixNetworkAccess().probe(probe);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(4000));
  REQUIRE(result.answers.size() == 2);
  CHECK(result.answers[0].kind == Kind::connected);
  CHECK(result.answers[1].kind == Kind::refused);

  // One that greets once and is gone.
  auto [listener, problem] = bind_socket(SOCK_STREAM, probe.ports[0]);
  REQUIRE(problem.empty());
  probe.peers = {{"other", {"127.0.0.1"}}};
  probe.limit = std::chrono::milliseconds(1000);
  std::thread other([&listener = listener] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    wait_ready(listener.get(), POLLIN, end);
    const Socket guest(::accept(listener.get(), nullptr, nullptr));
    listener = Socket();
    send_text(guest.get(), "ddlrun-answer other 127.0.0.1/8\n", end);
  });
  result = PosixNetworkAccess().probe(probe);
  other.join();
  REQUIRE(result.answers.size() == 1);
  CHECK(result.answers[0].kind == Kind::connected);
}

TEST_CASE("a probe answers only who has its key") {
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::milliseconds(700); };
  const NetworkProbe probe = self_probe();
  const ProbeServer server(probe, soon() + std::chrono::seconds(5));
  const auto target = socket_address("127.0.0.1", probe.ports[0]);
  const auto answer_to = [&](const std::string& text) {
    const Connected client = connect_socket(*target, soon());
    REQUIRE(client.error == 0);
    send_text(client.socket.get(), text, soon());
    return receive_line(client.socket.get(), 4096, soon()).value_or("");
  };
  CHECK(answer_to("ddlrun-probe " + probe.key + " other probe\n") == "ddlrun-answer me 127.0.0.1/8");
  CHECK(answer_to("") == "");
  CHECK(answer_to("other probe\n") == "");
  CHECK(answer_to("ddlrun-probe 0 other probe\n") == "");

  const Socket datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  REQUIRE(::connect(datagrams.get(), reinterpret_cast<const sockaddr*>(&*target), sizeof(*target)) == 0);
  for (const auto& [text, is_answered] : {std::pair<std::string, bool>{"ddlrun-mtu ", false},
                                          {"ddlrun-mtu 0 ", false},
                                          {mtu_answer(probe, 1472), false},
                                          {mtu_greeting(probe), true}}) {
    CAPTURE(text);
    ::send(datagrams.get(), text.data(), text.size(), 0);
    CHECK(wait_ready(datagrams.get(), POLLIN, soon()) == is_answered);
  }
}

TEST_CASE("more strangers than a probe has room for, one after the other, keep no peer out") {
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::seconds(5); };
  const NetworkProbe probe = self_probe();
  const ProbeServer server(probe, soon());
  const auto target = socket_address("127.0.0.1", probe.ports[0]);
  for (int i = 0; i < 600; ++i) {
    const Connected stranger = connect_socket(*target, soon());
    REQUIRE(stranger.error == 0);
    send_text(stranger.socket.get(), "GET / HTTP/1.1\n", soon());
    CHECK(!receive_line(stranger.socket.get(), 100, soon()));  // the server closes
  }
  const Connected peer = connect_socket(*target, soon());
  send_text(peer.socket.get(), "ddlrun-probe " + probe.key + " other probe\n", soon());
  CHECK(receive_line(peer.socket.get(), 100, soon()) == "ddlrun-answer me 127.0.0.1/8");
}

TEST_CASE("a port that sends everything back is no peer, and no path is measured by it") {
  NetworkProbe probe = self_probe();
  probe.limit = std::chrono::milliseconds(1000);
  auto [listener, problem] = bind_socket(SOCK_STREAM, probe.ports[0]);
  REQUIRE(problem.empty());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  std::thread mirror([&listener = listener, end] {
    wait_ready(listener.get(), POLLIN, end);
    const Socket guest(::accept(listener.get(), nullptr, nullptr));
    send_text(guest.get(), receive_line(guest.get(), 4096, end).value_or("") + "\n", end);
  });
  const ProbeResult result = PosixNetworkAccess().probe(probe);
  mirror.join();
  REQUIRE(result.answers.size() == 1);
  CHECK(result.answers[0].kind == Kind::another_host);
  CHECK(result.answers[0].detail == "another program");
}

TEST_CASE("addresses that are none, and limits of lines") {
  CHECK(!socket_address("fe80::1", 1));
  CHECK(!socket_address("10.1.1", 1));
  CHECK(socket_address("10.1.1.2", 80));
  const auto [listener, problem] = bind_socket(SOCK_STREAM, 0);
  REQUIRE(problem.empty());
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const auto target = socket_address("127.0.0.1", ntohs(address.sin_port));
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const Connected client = connect_socket(*target, soon);
  CHECK(client.error == 0);
  CHECK(!receive_line(client.socket.get(), 100, soon));  // no one speaks
  REQUIRE(wait_ready(listener.get(), POLLIN, soon + std::chrono::seconds(1)));
  const Socket server(::accept(listener.get(), nullptr, nullptr));
  const auto later = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  CHECK(send_text(server.get(), "one\n" + std::string(200, 'x') + "\n", later));
  CHECK(receive_line(client.socket.get(), 100, later) == "one");
  CHECK(!receive_line(client.socket.get(), 100, later));  // too long
}

TEST_SUITE_END();
