// SPDX-License-Identifier: MIT
#include "ddl/tcp_door.hpp"

#include "ddl/error.hpp"
#include "ddl/texts.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <thread>
#include <vector>

namespace ddl {
namespace {

constexpr auto stranger_patience = std::chrono::seconds(5);
constexpr std::size_t most_strangers = 256;  // at once beside those expected; then the oldest goes
constexpr int most_let_in = 64;              // before those that are in are heard again
constexpr auto first_pause = std::chrono::milliseconds(20);
constexpr auto longest_pause = std::chrono::milliseconds(500);
constexpr std::size_t most_named = 8;

// Somebody who has connected and not yet proven anything.
struct Stranger {
  Socket socket;
  Nonce hello{};
  ProofBytes said{};
  std::size_t have = 0;
  TcpClock::time_point deadline;
};

class Porter {
 public:
  Porter(const Socket& listener, const TcpSelf& self, std::set<int> expected, std::map<int, Socket>& came)
      : listener_(listener), self_(self), expected_(std::move(expected)), came_(came) {}

  bool all_have_come() const { return came_.size() == expected_.size(); }
  void look(TcpClock::time_point deadline);
  Error missing() const;

 private:
  void let_in();
  bool hear(Stranger& stranger);  // false: done with it
  void judge(Stranger& stranger);
  Verdict judge_card(const Proof& proof, const std::string& from);
  void check_those_who_came(const std::vector<pollfd>& watched, std::size_t first) const;
  void tell_once(const std::string& what, const char* hint);

  const Socket& listener_;
  const TcpSelf& self_;
  std::set<int> expected_;
  std::map<int, Socket>& came_;
  std::list<Stranger> strangers_;
  std::set<std::string> told_;
  std::string refused_;  // of the last rank that was not let in: for the error
};

void Porter::tell_once(const std::string& what, const char* hint) {
  if (!told_.insert(hint).second) return;
  fmt::print(stderr, "libddl: note: {}\n  try: {}\n", what, hint);
}

void Porter::let_in() {
  for (int i = 0; i < most_let_in; ++i) {
    auto socket = accept_one(listener_);
    if (!socket) return;
    if (strangers_.size() >= most_strangers + expected_.size()) strangers_.pop_front();
    Stranger& stranger = strangers_.emplace_back();
    stranger.socket = std::move(*socket);
    stranger.deadline = TcpClock::now() + stranger_patience;
    fill_random(stranger.hello);
    // A new connection has room for 40 bytes.
    const HelloBytes hello = render_hello(stranger.hello);
    if (send(stranger.socket.fd(), hello.data(), hello.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(hello.size()))
      strangers_.pop_back();
  }
}

bool Porter::hear(Stranger& stranger) {
  constexpr const char* whoever =
      "nothing, if that was a port scan; else a firewall around DDL_MASTER's port";
  const ssize_t got = recv(stranger.socket.fd(), stranger.said.data() + stranger.have,
                           stranger.said.size() - stranger.have, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    if (TcpClock::now() < stranger.deadline) return true;
    tell_once(fmt::format("{} connected to {} and said nothing: dropped",
                          peer_address(stranger.socket).text(), local_address(listener_).text()),
              whoever);
    return false;
  }
  if (got <= 0) return false;
  stranger.have += static_cast<std::size_t>(got);
  // Rubbish is dropped at its first bytes.
  if (stranger.have >= 8 && !parse_proof(stranger.said)) {
    tell_once(fmt::format("{} connected to {} and is no rank: dropped", peer_address(stranger.socket).text(),
                          local_address(listener_).text()),
              whoever);
    return false;
  }
  if (stranger.have < stranger.said.size()) return true;
  judge(stranger);
  return false;
}

Verdict Porter::judge_card(const Proof& proof, const std::string& from) {
  const int rank = static_cast<int>(proof.card.rank);
  if (proof.card.size != self_.card.size) {
    refused_ = fmt::format("rank {} from {} was started for {} ranks, this is a run of {}", rank, from,
                           proof.card.size, self_.card.size);
    tell_once(refused_, "the same DDL_SIZE on all ranks");
    return Verdict::other_size;
  }
  if (proof.card.run != self_.card.run || !expected_.contains(rank)) return Verdict::not_expected;
  if (!came_.contains(rank)) return Verdict::welcome;
  refused_ = fmt::format("{} says that it is rank {}, but that one has come from {}", from, rank,
                         peer_address(came_.at(rank)).text());
  tell_once(refused_, "another DDL_RANK on each rank");
  return Verdict::twice;
}

void Porter::judge(Stranger& stranger) {
  const Proof proof = *parse_proof(stranger.said);
  const std::string from = peer_address(stranger.socket).text();
  Verdict verdict = Verdict::other_token;
  if (is_proven(self_.token, stranger.hello, proof)) {
    verdict = judge_card(proof, from);
  } else {
    refused_ = fmt::format("{}, which says that it is rank {}, has another token", from, proof.card.rank);
    tell_once(refused_, "the same token on all ranks: compare sha256sum \"$DDL_TOKEN_FILE\"");
  }
  const AnswerBytes answer = render_answer(self_.token, stranger.hello, proof, verdict, self_.card.size);
  const bool sent = send(stranger.socket.fd(), answer.data(), answer.size(), MSG_NOSIGNAL) ==
                    static_cast<ssize_t>(answer.size());
  if (sent && verdict == Verdict::welcome)
    came_.emplace(static_cast<int>(proof.card.rank), std::move(stranger.socket));
}

// Who has been let in and ends before the others have come will not come again.
void Porter::check_those_who_came(const std::vector<pollfd>& watched, std::size_t first) const {
  for (const auto& [rank, socket] : came_) {
    const bool ended =
        std::any_of(watched.begin() + static_cast<std::ptrdiff_t>(first), watched.end(),
                    [fd = socket.fd()](const pollfd& one) {
                      return one.fd == fd && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
                    });
    if (ended)
      throw Error(Fault::lost, fmt::format("rank {} ended before all ranks had come", rank),
                  name_rank(rank, peer_address(socket).text()), "read that rank's own message");
  }
}

void Porter::look(TcpClock::time_point deadline) {
  std::vector<pollfd> watched{{listener_.fd(), POLLIN, 0}};
  for (const Stranger& each : strangers_) {
    watched.push_back({each.socket.fd(), POLLIN, 0});
    deadline = std::min(deadline, each.deadline);
  }
  const std::size_t first = watched.size();
  for (const auto& [rank, socket] : came_) watched.push_back({socket.fd(), POLLRDHUP, 0});
  poll(watched.data(), watched.size(), milliseconds_until(deadline, 1000));
  check_those_who_came(watched, first);
  strangers_.remove_if([&](Stranger& each) { return !hear(each); });
  let_in();
}

Error Porter::missing() const {
  std::vector<int> ranks;
  for (const int rank : expected_) {
    if (!came_.contains(rank)) ranks.push_back(rank);
  }
  const std::size_t shown = std::min(ranks.size(), most_named);
  std::string names =
      fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks",
                  fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < ranks.size()) names += fmt::format(" and {} more", ranks.size() - shown);
  const TcpAddress here = local_address(listener_);
  const bool is_near = here.host.starts_with("127.") || here.host == "::1";
  std::string what =
      fmt::format("{} {} not come to {}{} within {:g} s", names, ranks.size() == 1 ? "has" : "have",
                  here.text(), is_near ? " (only this host can reach that)" : "", self_.timeout_seconds);
  if (!refused_.empty()) what += "; " + refused_;
  return {Fault::lost, what, names,
          "read those ranks' messages; the same DDL_MASTER and token on all ranks; "
          "a longer DDL_OPTIONS=\"-timeout 300\""};
}

Error other_program(const std::string& name, const std::string& where) {
  return {Fault::usage, fmt::format("who listens at {} is not {} of this run", where, name), where,
          "a port that no other program uses: see ss -ltnp on that host"};
}

// Throws unless the answer is yes.
void check_answer(const Answer& answer, const TcpSelf& self, const std::string& name,
                  const std::string& where) {
  const std::uint32_t me = self.card.rank;
  switch (answer.verdict) {
    case Verdict::welcome:
      return;
    case Verdict::other_token:
      throw Error(Fault::usage, fmt::format("{} has another token than this rank {}", name, me), where,
                  "the same token on all ranks: compare sha256sum \"$DDL_TOKEN_FILE\"");
    case Verdict::other_size:
      throw Error(Fault::usage,
                  fmt::format("{} was started for {} ranks, this rank {} for {}", name, answer.number, me,
                              self.card.size),
                  where, "the same DDL_SIZE on all ranks");
    case Verdict::twice:
      throw Error(Fault::usage, fmt::format("another process has come to {} as rank {}", name, me), where,
                  "another DDL_RANK on each rank");
    case Verdict::not_expected:
      break;
  }
  throw Error(Fault::usage, fmt::format("{} does not expect rank {}: it is of another run", name, me), where,
              "another port in DDL_MASTER for each run");
}

// False when the connection ends before there is an answer: then another attempt may do.
bool shake_hands(const Socket& socket, const TcpSelf& self, int whom, const std::string& where,
                 TcpClock::time_point deadline) {
  const std::string name = fmt::format("rank {}", whom);
  HelloBytes hello_bytes;
  if (!read_whole(socket, hello_bytes, deadline)) return false;
  const auto hello = parse_hello(hello_bytes);
  if (!hello) throw other_program(name, where);
  Proof mine;
  fill_random(mine.nonce);
  mine.card = self.card;
  AnswerBytes answer_bytes;
  if (!write_whole(socket, render_proof(self.token, *hello, mine.nonce, self.card), deadline) ||
      !read_whole(socket, answer_bytes, deadline))
    return false;
  const auto answer = parse_answer(answer_bytes);
  if (!answer) throw other_program(name, where);
  check_answer(*answer, self, name, where);
  if (!is_proven(self.token, *hello, mine, *answer))
    throw Error(Fault::usage, fmt::format("who listens at {} does not know the token", where), where,
                "a port that no other program uses: see ss -ltnp on that host");
  return true;
}

}  // namespace

void admit_ranks(const Socket& listener, const TcpSelf& self, const std::set<int>& expected,
                 TcpClock::time_point deadline, std::map<int, Socket>& came) {
  Porter porter(listener, self, expected, came);
  while (!porter.all_have_come()) {
    porter.look(deadline);
    if (TcpClock::now() >= deadline && !porter.all_have_come()) throw porter.missing();
  }
}

Socket knock(const TcpAddress& address, const TcpSelf& self, int whom, TcpClock::time_point deadline) {
  std::string problem = "nobody listens";
  for (auto pause = first_pause; TcpClock::now() < deadline; pause = std::min(2 * pause, longest_pause)) {
    std::optional<Socket> socket = try_connect(address.host, address.port, deadline, problem);
    if (socket && shake_hands(*socket, self, whom, address.text(), deadline)) return std::move(*socket);
    if (socket) problem = "it takes connections and does not answer";
    const TcpClock::duration left = deadline - TcpClock::now();
    std::this_thread::sleep_for(std::clamp<TcpClock::duration>(left, TcpClock::duration(0), pause));
  }
  const std::string name = fmt::format("rank {}", whom);
  throw Error(
      Fault::lost,
      fmt::format("{} did not let rank {} in at {} within {:g} s: {}", name, self.card.rank, address.text(),
                  self.timeout_seconds, problem),
      name,
      "start rank 0; the address of its host in DDL_MASTER, and the same on all ranks; no firewall between; "
      "a longer DDL_OPTIONS=\"-timeout 300\"");
}

}  // namespace ddl
