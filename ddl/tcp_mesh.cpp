// SPDX-License-Identifier: MIT
#include "ddl/tcp_mesh.hpp"

#include "ddl/host_mark.hpp"
#include "ddl/texts.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

namespace ddl {
namespace {

constexpr std::uint32_t failed_round = 0xffffffffu;
// Rank 0 tells who is missing; the others wait a little longer for that.
constexpr auto grace_for_rank_0 = std::chrono::seconds(5);
constexpr auto farewell_time = std::chrono::milliseconds(2000);
constexpr auto short_farewell_time = std::chrono::milliseconds(200);

TcpClock::time_point after_seconds(double seconds) {
  return TcpClock::now() +
         std::chrono::duration_cast<TcpClock::duration>(std::chrono::duration<double>(seconds));
}

// Texts in a row, each behind its length.
std::string join_texts(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += fmt::format("{} {}", text.size(), text);
  return joined;
}

std::vector<std::string> split_texts(const std::string& joined) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < joined.size();) {
    const std::size_t blank = joined.find(' ', at);
    const std::size_t length = std::strtoul(joined.c_str() + at, nullptr, 10);
    if (blank == std::string::npos || length > joined.size() - blank - 1) return {};
    texts.push_back(joined.substr(blank + 1, length));
    at = blank + 1 + length;
  }
  return texts;
}

}  // namespace

TcpMesh::TcpMesh(const TcpRoll& roll, double timeout_seconds)
    : self_{{static_cast<std::uint32_t>(roll.rank), static_cast<std::uint32_t>(roll.size), 0},
            roll.token,
            timeout_seconds} {
  try {
    meet(roll);
  } catch (const Error&) {
    abandoned_ = true;
    finish();
    throw;
  }
}

TcpMesh::~TcpMesh() { finish(); }

void TcpMesh::add_link(int rank, Socket socket) {
  prepare_link(socket, self_.timeout_seconds);
  links_[rank] = std::make_unique<TcpLink>(std::move(socket));
}

void TcpMesh::meet(const TcpRoll& roll) {
  const auto deadline = after_seconds(self_.timeout_seconds);
  if (roll.rank == 0) {
    meet_as_first(roll, deadline);
  } else {
    add_link(0, knock({roll.host, roll.port}, self_, 0, deadline));
  }
  learn_hosts();
}

void TcpMesh::meet_as_first(const TcpRoll& roll, TcpClock::time_point deadline) {
  std::set<int> others;
  for (int rank = 1; rank < size(); ++rank) others.insert(rank);
  std::map<int, Socket> came;
  const auto welcome = [&] {
    for (auto& [rank, socket] : came) add_link(rank, std::move(socket));
  };
  try {
    const Socket listener = listen_at(roll.host, roll.port);
    admit_ranks(listener, self_, others, deadline, came);
  } catch (const Error& error) {
    welcome();
    tell_others(error);
    throw;
  }
  welcome();
}

void TcpMesh::learn_hosts() {
  const HostMark mine = mark_this_host();
  std::uint64_t run = 0;
  if (rank() == 0) fill_random(std::as_writable_bytes(std::span(&run, 1)));
  std::vector<HostMark> hosts;
  const std::vector<std::string> told = gather(join_texts({mine.name, mine.mark, fmt::format("{}", run)}));
  for (const std::string& each : told) {
    const std::vector<std::string> parts = split_texts(each);
    if (parts.size() != 3)
      throw Error(Fault::mismatch, "a rank of another version of libddl", "roll call",
                  "the same libddl on all hosts");
    hosts.push_back({parts[0], parts[1]});
    if (hosts.size() == 1) self_.card.run = std::strtoull(parts[2].c_str(), nullptr, 10);
  }
  hosts_ = name_hosts(hosts);
}

std::string TcpMesh::name_of(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return at < hosts_.size() ? name_rank(rank, hosts_[at]) : fmt::format("rank {}", rank);
}

TcpLink* TcpMesh::link_to(int rank) {
  const auto link = links_.find(rank);
  return link == links_.end() ? nullptr : link->second.get();
}

void TcpMesh::progress(std::chrono::milliseconds most) {
  std::vector<pollfd> watched;
  std::vector<TcpLink*> links;
  for (const auto& [rank, link] : links_) {
    const int events = (link->wants_to_read() ? POLLIN : 0) | (link->has_to_write() ? POLLOUT : 0);
    if (events == 0) continue;
    watched.push_back({link->fd(), static_cast<short>(events), 0});
    links.push_back(link.get());
  }
  if (poll(watched.data(), watched.size(), static_cast<int>(most.count())) <= 0) return;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if ((watched[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) links[i]->read();
    if ((watched[i].revents & POLLOUT) != 0) links[i]->write();
  }
}

int TcpMesh::find_lost() const {
  for (const auto& [rank, link] : links_) {
    if (link->end() == TcpLink::End::lost) return rank;
  }
  return -1;
}

Error TcpMesh::lost(int rank) const {
  const std::string name = name_of(rank);
  const auto link = links_.find(rank);
  const TcpLink::End end = link == links_.end() ? TcpLink::End::lost : link->second->end();
  std::string what =
      fmt::format("{} has ended: {}", name, link == links_.end() ? "no connection" : link->second->why());
  if (end == TcpLink::End::goodbye) what = name + " has ended its Context while others still wait for it";
  if (end == TcpLink::End::gave_up) what = name + " has given up after an error of its own";
  return {Fault::lost, what, name,
          "look for that rank's own message, or a kill for memory (dmesg) on its host"};
}

std::string TcpMesh::await_text(int rank, TcpClock::time_point deadline) {
  TcpLink& link = *link_to(rank);
  while (true) {
    if (auto text = link.take(channel::texts)) {
      if (text->stamp == failed_round) {
        const std::vector<std::string> parts = split_texts(text->text);
        if (parts.size() == 4)
          throw Error(static_cast<Fault>(std::atoi(parts[0].c_str())), parts[1], parts[2], parts[3]);
      }
      if (text->stamp != rounds_)
        throw Error(Fault::mismatch, fmt::format("{} makes another call", name_of(rank)), name_of(rank),
                    "all ranks make the same calls in the same order");
      return text->text;
    }
    if (!link.is_open()) throw lost(rank);
    if (TcpClock::now() >= deadline)
      throw Error(Fault::lost,
                  fmt::format("{} has sent nothing for {:g} s", name_of(rank), self_.timeout_seconds),
                  name_of(rank), "see whether it still runs and what it last said");
    progress(std::chrono::milliseconds(milliseconds_until(deadline, 200)));
  }
}

std::vector<std::string> TcpMesh::gather_as_first(const std::string& mine) {
  std::vector<std::string> texts{mine};
  const auto deadline = after_seconds(self_.timeout_seconds);
  try {
    for (int other = 1; other < size(); ++other) texts.push_back(await_text(other, deadline));
  } catch (const Error& error) {
    tell_others(error);
    throw;
  }
  const std::string joined = join_texts(texts);
  for (int other = 1; other < size(); ++other) link_to(other)->send_copy(channel::texts, rounds_, joined);
  // Nothing else may be sent for a while.
  const auto unsent = [&] {
    return std::any_of(links_.begin(), links_.end(),
                       [](const auto& each) { return each.second->has_to_write(); });
  };
  while (unsent() && TcpClock::now() < deadline) progress(std::chrono::milliseconds(100));
  return texts;
}

std::vector<std::string> TcpMesh::gather(const std::string& mine) {
  ++rounds_;
  if (rank() == 0) return gather_as_first(mine);
  link_to(0)->send_copy(channel::texts, rounds_, mine);
  const auto deadline = after_seconds(self_.timeout_seconds) + grace_for_rank_0;
  std::vector<std::string> texts = split_texts(await_text(0, deadline));
  if (texts.size() != static_cast<std::size_t>(size()))
    throw Error(Fault::mismatch, fmt::format("{} texts of {} ranks", texts.size(), size()), name_of(0),
                "the same libddl on all hosts");
  return texts;
}

void TcpMesh::tell_others(const Error& error) {
  const std::string text = join_texts(
      {fmt::format("{}", static_cast<int>(error.fault())), error.what(), error.where(), error.hint()});
  for (auto& [rank, link] : links_) link->send_copy(channel::texts, failed_round, text);
}

// The lower rank of a pair listens, at the address at which it sees rank 0, for as long as this takes.
void TcpMesh::connect(const std::vector<int>& peers) {
  std::set<int> coming;
  std::set<int> asked;
  for (const int peer : peers) {
    if (peer != rank() && links_.count(peer) == 0) (peer > rank() ? coming : asked).insert(peer);
  }
  Socket listener;
  TcpAddress mine;
  if (!coming.empty()) {
    listener = listen_at(local_address(link_to(0)->socket()).host, "0");
    mine = local_address(listener);
  }
  const std::vector<std::string> addresses = gather(join_texts({mine.host, mine.port}));
  const auto deadline = after_seconds(self_.timeout_seconds);
  for (const int peer : asked) {  // ascending: who is asked has itself asked only lower ones
    const std::vector<std::string> address = split_texts(addresses[static_cast<std::size_t>(peer)]);
    add_link(peer, knock({address.at(0), address.at(1)}, self_, peer, deadline));
  }
  if (coming.empty()) return;
  std::map<int, Socket> came;
  admit_ranks(listener, self_, coming, deadline, came);
  for (auto& [peer, socket] : came) add_link(peer, std::move(socket));
}

void TcpMesh::abandon() noexcept {
  abandoned_ = true;
  for (auto& [rank, link] : links_) link->withdraw();
}

// A connection that is closed with something unread takes away what it has sent: all is read first.
void TcpMesh::finish() {
  for (auto& [rank, link] : links_) {
    link->withdraw();
    link->send_copy(channel::goodbye, abandoned_ ? 1 : 0, "");
  }
  const auto deadline = TcpClock::now() + (abandoned_ ? short_farewell_time : farewell_time);
  const auto unsent = [&] {
    return std::any_of(links_.begin(), links_.end(),
                       [](const auto& each) { return each.second->has_to_write(); });
  };
  while (unsent() && TcpClock::now() < deadline) progress(std::chrono::milliseconds(20));
  progress(std::chrono::milliseconds(0));
  links_.clear();
}

}  // namespace ddl
