// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_mesh.hpp"

#include "ddl/core/call_record.hpp"
#include "ddl/core/gather_strings.hpp"
#include "ddl/core/host_id.hpp"
#include "ddl/core/peer_text.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <set>

namespace ddl {
namespace {

constexpr std::uint32_t failed_gather = 0xffffffffu;
// Rank 0 names the missing ranks; the others wait a little longer for that.
constexpr auto rank_0_grace = std::chrono::seconds(5);
constexpr auto close_timeout = std::chrono::milliseconds(2000);
constexpr auto abandoned_close_timeout = std::chrono::milliseconds(200);

TcpClock::time_point after_seconds(double seconds) {
  return TcpClock::now() +
         std::chrono::duration_cast<TcpClock::duration>(std::chrono::duration<double>(seconds));
}

// Texts in a row, each behind its length.
std::string join_strings(const std::vector<std::string>& strings) {
  std::string joined;
  for (const std::string& text : strings) joined += fmt::format("{} {}", text.size(), text);
  return joined;
}

// Empty where it is not such a row.
std::vector<std::string> split_strings(const std::string& joined) {
  std::vector<std::string> strings;
  for (std::size_t at = 0; at < joined.size();) {
    const std::size_t blank = joined.find(' ', at);
    const std::size_t length = std::strtoul(joined.c_str() + at, nullptr, 10);
    if (blank == std::string::npos || length > joined.size() - blank - 1) return {};
    strings.push_back(joined.substr(blank + 1, length));
    at = blank + 1 + length;
  }
  return strings;
}

Error other_version() {
  return {Fault::mismatch, "a rank of another version of libddl", "TCP bootstrap",
          "the same libddl on all hosts"};
}

}  // namespace

TcpMesh::TcpMesh(const TcpBootstrap& bootstrap_options, double timeout_seconds)
    : self_{{static_cast<std::uint32_t>(bootstrap_options.rank),
             static_cast<std::uint32_t>(bootstrap_options.size), 0},
            bootstrap_options.token,
            timeout_seconds} {
  all_.ranks.resize(self_.info.size);
  std::iota(all_.ranks.begin(), all_.ranks.end(), 0);
  try {
    bootstrap(bootstrap_options);
  } catch (const Error&) {
    abandoned_ = true;
    finish();
    throw;
  }
}

TcpMesh::~TcpMesh() { finish(); }

void TcpMesh::add_connection(int rank, Socket socket) {
  configure_connection(socket, self_.timeout_seconds);
  connections_[rank] = std::make_unique<TcpConnection>(std::move(socket));
}

void TcpMesh::bootstrap(const TcpBootstrap& bootstrap_options) {
  const auto deadline = after_seconds(self_.timeout_seconds);
  if (bootstrap_options.rank == 0) {
    bootstrap_as_rank_0(bootstrap_options, deadline);
  } else {
    add_connection(0, connect_to_rank({bootstrap_options.host, bootstrap_options.port}, self_, 0, deadline));
  }
  exchange_host_ids();
}

void TcpMesh::bootstrap_as_rank_0(const TcpBootstrap& bootstrap_options, TcpClock::time_point deadline) {
  std::set<int> others;
  for (int rank = 1; rank < size(); ++rank) others.insert(rank);
  std::map<int, Socket> accepted_ranks;
  const auto accepted = [&] {
    for (auto& [rank, socket] : accepted_ranks) add_connection(rank, std::move(socket));
  };
  try {
    const Socket listener = listen_at(bootstrap_options.host, bootstrap_options.port);
    accept_ranks(listener, self_, others, deadline, accepted_ranks);
  } catch (const Error& error) {
    accepted();
    send_error(all_.ranks, channel::gather, error);
    throw;
  }
  accepted();
}

void TcpMesh::exchange_host_ids() {
  const HostId mine = this_host_id();
  std::uint64_t run = 0;
  if (rank() == 0) fill_random(std::as_writable_bytes(std::span(&run, 1)));
  std::vector<HostId> hosts;
  const std::vector<std::string> entries =
      gather(join_strings({mine.name, mine.mark, fmt::format("{}", run)}));
  for (const std::string& each : entries) {
    const std::vector<std::string> parts = split_strings(each);
    if (parts.size() != 3) throw other_version();
    hosts.push_back({printable(parts[0]), parts[1]});
    if (hosts.size() == 1) self_.info.run = std::strtoull(parts[2].c_str(), nullptr, 10);
  }
  hosts_ = name_hosts(hosts);
}

std::string TcpMesh::name_of(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return at < hosts_.size() ? name_rank(rank, hosts_[at]) : fmt::format("rank {}", rank);
}

TcpConnection* TcpMesh::connection_to(int rank) {
  const auto link = connections_.find(rank);
  return link == connections_.end() ? nullptr : link->second.get();
}

void TcpMesh::progress(std::chrono::milliseconds most) {
  std::vector<pollfd> watched;
  std::vector<TcpConnection*> connections;
  for (const auto& [rank, link] : connections_) {
    const int events = (link->wants_to_read() ? POLLIN : 0) | (link->has_to_write() ? POLLOUT : 0);
    if (events == 0) continue;
    watched.push_back({link->fd(), static_cast<short>(events), 0});
    connections.push_back(link.get());
  }
  if (poll(watched.data(), watched.size(), static_cast<int>(most.count())) <= 0) return;
  for (std::size_t i = 0; i < connections.size(); ++i) {
    if ((watched[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) connections[i]->read();
    if ((watched[i].revents & POLLOUT) != 0) connections[i]->write();
  }
}

int TcpMesh::find_lost() const {
  for (const auto& [rank, link] : connections_) {
    if (link->end() == TcpConnection::End::lost) return rank;
  }
  return -1;
}

Error TcpMesh::lost(int rank) const {
  const std::string name = name_of(rank);
  const auto link = connections_.find(rank);
  const TcpConnection::End end = link == connections_.end() ? TcpConnection::End::lost : link->second->end();
  std::string what = fmt::format("{} has ended: {}", name,
                                 link == connections_.end() ? "no connection" : link->second->why());
  if (end == TcpConnection::End::clean) what = name + " has ended its Context while others still wait for it";
  if (end == TcpConnection::End::after_error) what = name + " has given up after an error of its own";
  return {Fault::lost, what, name,
          "look for that rank's own message, or a kill for memory (dmesg) on its host"};
}

std::string TcpMesh::receive_string(int rank, const Gathering& among, TcpClock::time_point deadline) {
  TcpConnection& link = *connection_to(rank);
  while (true) {
    if (auto text = link.take(among.channel)) {
      if (text->call_id == failed_gather) {
        const std::vector<std::string> parts = split_strings(text->text);
        if (parts.size() == 4)
          throw error_of_peer(std::atoi(parts[0].c_str()), parts[1], parts[2], parts[3]);
      }
      if (text->call_id != among.rounds)
        throw Error(Fault::mismatch, fmt::format("{} makes another call", name_of(rank)), name_of(rank),
                    same_calls_hint);
      return text->text;
    }
    if (!link.is_open()) throw lost(rank);
    if (TcpClock::now() >= deadline)
      throw Error(Fault::lost,
                  fmt::format("{} has sent nothing for {:g} s", name_of(rank), self_.timeout_seconds),
                  name_of(rank), "check whether the process runs, and read its last output");
    progress(std::chrono::milliseconds(milliseconds_until(deadline, 200)));
  }
}

std::vector<std::string> TcpMesh::gather_as_first(const Gathering& among, const std::string& mine) {
  const std::span<const int> others = std::span(among.ranks).subspan(1);
  std::vector<std::string> strings{mine};
  const auto deadline = after_seconds(self_.timeout_seconds);
  try {
    for (const int other : others) strings.push_back(receive_string(other, among, deadline));
  } catch (const Error& error) {
    send_error(others, among.channel, error);
    throw;
  }
  const std::string joined = join_strings(strings);
  for (const int other : others) connection_to(other)->send_copy(among.channel, among.rounds, joined);
  // Nothing else may be sent for a while.
  const auto unsent = [&] {
    return std::any_of(connections_.begin(), connections_.end(),
                       [](const auto& each) { return each.second->has_to_write(); });
  };
  while (unsent() && TcpClock::now() < deadline) progress(std::chrono::milliseconds(100));
  return strings;
}

std::vector<std::string> TcpMesh::gather_among(Gathering& among, const std::string& mine) {
  ++among.rounds;
  const int first = among.ranks.front();
  if (rank() == first) return gather_as_first(among, mine);
  connection_to(first)->send_copy(among.channel, among.rounds, mine);
  const auto deadline = after_seconds(self_.timeout_seconds) + rank_0_grace;
  std::vector<std::string> strings = split_strings(receive_string(first, among, deadline));
  if (strings.size() != among.ranks.size())
    throw Error(Fault::mismatch,
                fmt::format("got {} entries for {} ranks", strings.size(), among.ranks.size()),
                name_of(first), "the same libddl on all hosts");
  return strings;
}

// To those that are connected.
void TcpMesh::send_error(std::span<const int> ranks, std::uint32_t channel, const Error& error) {
  const std::string text = join_strings(
      {fmt::format("{}", static_cast<int>(error.fault())), error.what(), error.where(), error.hint()});
  for (const int rank : ranks) {
    if (TcpConnection* const link = connection_to(rank)) link->send_copy(channel, failed_gather, text);
  }
}

// The lower rank of a pair listens, at the address at which it sees rank 0, for as long as this takes.
void TcpMesh::connect(const std::vector<int>& peers) {
  std::set<int> coming;
  std::set<int> request;
  for (const int peer : peers) {
    if (peer != rank() && connections_.count(peer) == 0) (peer > rank() ? coming : request).insert(peer);
  }
  Socket listener;
  TcpAddress mine;
  if (!coming.empty()) {
    listener = listen_at(local_address(connection_to(0)->socket()).host, "0");
    mine = local_address(listener);
  }
  const std::vector<std::string> addresses = gather(join_strings({mine.host, mine.port}));
  const auto deadline = after_seconds(self_.timeout_seconds);
  for (const int peer : request) {  // ascending: who is asked has itself asked only lower ones
    const std::vector<std::string> address = split_strings(addresses[static_cast<std::size_t>(peer)]);
    if (address.size() != 2) throw other_version();
    const TcpAddress at{printable(address[0]), printable(address[1])};
    add_connection(peer, connect_to_rank(at, self_, peer, deadline));
  }
  if (coming.empty()) return;
  std::map<int, Socket> accepted_ranks;
  accept_ranks(listener, self_, coming, deadline, accepted_ranks);
  for (auto& [peer, socket] : accepted_ranks) add_connection(peer, std::move(socket));
}

void TcpMesh::abandon() noexcept {
  abandoned_ = true;
  for (auto& [rank, link] : connections_) link->withdraw();
}

// A connection that is closed with something unread takes away what it has sent: all is read first.
void TcpMesh::finish() {
  for (auto& [rank, link] : connections_) {
    link->withdraw();
    link->send_copy(channel::goodbye, abandoned_ ? 1 : 0, "");
  }
  const auto deadline = TcpClock::now() + (abandoned_ ? abandoned_close_timeout : close_timeout);
  const auto unsent = [&] {
    return std::any_of(connections_.begin(), connections_.end(),
                       [](const auto& each) { return each.second->has_to_write(); });
  };
  while (unsent() && TcpClock::now() < deadline) progress(std::chrono::milliseconds(20));
  progress(std::chrono::milliseconds(0));
  connections_.clear();
}

}  // namespace ddl
