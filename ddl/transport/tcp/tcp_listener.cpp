// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_listener.hpp"

#include "ddl/core/gather_strings.hpp"
#include "ddl/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <thread>
#include <vector>

namespace ddl {
namespace {

constexpr auto handshake_timeout = std::chrono::seconds(5);
constexpr std::size_t max_pending = 256;  // at once beside those expected; then the oldest goes
constexpr int max_accepts_at_once = 64;   // before accepted connections are read again
constexpr auto first_pause = std::chrono::milliseconds(20);
constexpr auto max_pause = std::chrono::milliseconds(500);
constexpr std::size_t max_named = 8;

// Somebody who has connected and not yet proven anything.
struct PendingPeer {
  Socket socket;
  Nonce hello{};
  ProofBytes said{};
  std::size_t have = 0;
  TcpClock::time_point deadline;
};

class RankAcceptor {
 public:
  RankAcceptor(const Socket& listener, const TcpIdentity& self, std::set<int> expected,
               std::map<int, Socket>& accepted_ranks)
      : listener_(listener), self_(self), expected_(std::move(expected)), accepted_(accepted_ranks) {}

  bool all_arrived() const { return accepted_.size() == expected_.size(); }
  void check_errors(TcpClock::time_point deadline);
  Error missing() const;

 private:
  void accept_pending();
  bool hear(PendingPeer& pending);  // false: done with it
  void authenticate(PendingPeer& pending);
  HandshakeStatus check_peer_info(const Proof& proof, const std::string& from);
  void check_accepted_ranks(const std::vector<pollfd>& watched, std::size_t first) const;
  void note_once(const std::string& what, const char* hint);

  const Socket& listener_;
  const TcpIdentity& self_;
  std::set<int> expected_;
  std::map<int, Socket>& accepted_;
  std::list<PendingPeer> pending_;
  std::set<std::string> noted_;
  std::string refused_;  // of the last rank that was not let in: for the error
};

void RankAcceptor::note_once(const std::string& what, const char* hint) {
  if (!noted_.insert(hint).second) return;
  fmt::print(stderr, "libddl: note: {}\n  try: {}\n", what, hint);
}

void RankAcceptor::accept_pending() {
  for (int i = 0; i < max_accepts_at_once; ++i) {
    std::optional<Socket> socket;
    try {
      socket = accept_one(listener_);
    } catch (const Error&) {
      // No descriptor is free: strangers must not keep the ranks out.
      if (pending_.empty()) throw;
      pending_.pop_front();
      continue;
    }
    if (!socket) return;
    if (pending_.size() >= max_pending + expected_.size()) pending_.pop_front();
    PendingPeer& pending = pending_.emplace_back();
    pending.socket = std::move(*socket);
    pending.deadline = TcpClock::now() + handshake_timeout;
    fill_random(pending.hello);
    // A new connection has room for 40 bytes.
    const HelloBytes hello = render_hello(pending.hello);
    if (send(pending.socket.fd(), hello.data(), hello.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(hello.size()))
      pending_.pop_back();
  }
}

bool RankAcceptor::hear(PendingPeer& pending) {
  constexpr const char* scan_hint =
      "nothing, if that was a port scan; else a firewall around DDL_MASTER's port";
  const ssize_t got =
      recv(pending.socket.fd(), pending.said.data() + pending.have, pending.said.size() - pending.have, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    if (TcpClock::now() < pending.deadline) return true;
    note_once(fmt::format("{} connected to {} and sent nothing; connection closed",
                          peer_address(pending.socket).text(), local_address(listener_).text()),
              scan_hint);
    return false;
  }
  if (got <= 0) return false;
  pending.have += static_cast<std::size_t>(got);
  // Rubbish is dropped at its first bytes.
  if (pending.have >= 8 && !parse_proof(pending.said)) {
    note_once(fmt::format("{} connected to {} and is not a rank; connection closed",
                          peer_address(pending.socket).text(), local_address(listener_).text()),
              scan_hint);
    return false;
  }
  if (pending.have < pending.said.size()) return true;
  authenticate(pending);
  return false;
}

HandshakeStatus RankAcceptor::check_peer_info(const Proof& proof, const std::string& from) {
  const int rank = static_cast<int>(proof.info.rank);
  if (proof.info.size != self_.info.size) {
    refused_ = fmt::format("rank {} from {} was started for {} ranks, this is a run of {}", rank, from,
                           proof.info.size, self_.info.size);
    note_once(refused_, "the same DDL_SIZE on all ranks");
    return HandshakeStatus::wrong_size;
  }
  if (proof.info.run != self_.info.run || !expected_.contains(rank)) return HandshakeStatus::unexpected_rank;
  if (!accepted_.contains(rank)) return HandshakeStatus::accepted;
  refused_ = fmt::format("{} claims to be rank {}, which has connected from {}", from, rank,
                         peer_address(accepted_.at(rank)).text());
  note_once(refused_, "another DDL_RANK on each rank");
  return HandshakeStatus::duplicate_rank;
}

void RankAcceptor::authenticate(PendingPeer& pending) {
  const Proof proof = *parse_proof(pending.said);
  const std::string from = peer_address(pending.socket).text();
  HandshakeStatus verdict = HandshakeStatus::wrong_token;
  if (is_proven(self_.token, pending.hello, proof)) {
    verdict = check_peer_info(proof, from);
  } else {
    refused_ = fmt::format("{}, which claims to be rank {}, has another token", from, proof.info.rank);
    note_once(refused_, "the same token on all ranks: compare sha256sum \"$DDL_TOKEN_FILE\"");
  }
  const AnswerBytes answer = render_answer(self_.token, pending.hello, proof, verdict, self_.info.size);
  const bool sent = send(pending.socket.fd(), answer.data(), answer.size(), MSG_NOSIGNAL) ==
                    static_cast<ssize_t>(answer.size());
  if (sent && verdict == HandshakeStatus::accepted)
    accepted_.emplace(static_cast<int>(proof.info.rank), std::move(pending.socket));
}

// Who has been let in and ends before the others have come will not come again.
void RankAcceptor::check_accepted_ranks(const std::vector<pollfd>& watched, std::size_t first) const {
  for (const auto& [rank, socket] : accepted_) {
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

void RankAcceptor::check_errors(TcpClock::time_point deadline) {
  std::vector<pollfd> watched{{listener_.fd(), POLLIN, 0}};
  for (const PendingPeer& each : pending_) {
    watched.push_back({each.socket.fd(), POLLIN, 0});
    deadline = std::min(deadline, each.deadline);
  }
  const std::size_t first = watched.size();
  for (const auto& [rank, socket] : accepted_) watched.push_back({socket.fd(), POLLRDHUP, 0});
  poll(watched.data(), watched.size(), milliseconds_until(deadline, 1000));
  check_accepted_ranks(watched, first);
  pending_.remove_if([&](PendingPeer& each) { return !hear(each); });
  accept_pending();
}

Error RankAcceptor::missing() const {
  std::vector<int> ranks;
  for (const int rank : expected_) {
    if (!accepted_.contains(rank)) ranks.push_back(rank);
  }
  const std::size_t shown = std::min(ranks.size(), max_named);
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
  return {Fault::usage, fmt::format("the program that listens at {} is not {} of this run", where, name),
          where, "a port that no other program uses: see ss -ltnp on that host"};
}

// Throws unless the answer is yes.
void check_answer(const Answer& answer, const TcpIdentity& self, const std::string& name,
                  const std::string& where) {
  const std::uint32_t me = self.info.rank;
  switch (answer.verdict) {
    case HandshakeStatus::accepted:
      return;
    case HandshakeStatus::wrong_token:
      throw Error(Fault::usage, fmt::format("{} has another token than this rank {}", name, me), where,
                  "the same token on all ranks: compare sha256sum \"$DDL_TOKEN_FILE\"");
    case HandshakeStatus::wrong_size:
      throw Error(Fault::usage,
                  fmt::format("{} was started for {} ranks, this rank {} for {}", name, answer.number, me,
                              self.info.size),
                  where, "the same DDL_SIZE on all ranks");
    case HandshakeStatus::duplicate_rank:
      throw Error(Fault::usage, fmt::format("another process has come to {} as rank {}", name, me), where,
                  "another DDL_RANK on each rank");
    case HandshakeStatus::unexpected_rank:
      break;
  }
  throw Error(Fault::usage, fmt::format("{} does not expect rank {}: it is of another run", name, me), where,
              "another port in DDL_MASTER for each run");
}

// False when the connection ends before there is an answer: then another attempt may do.
bool authenticate_to(const Socket& socket, const TcpIdentity& self, int waits_for, const std::string& where,
                     TcpClock::time_point deadline) {
  const std::string name = fmt::format("rank {}", waits_for);
  HelloBytes hello_bytes;
  if (!read_whole(socket, hello_bytes, deadline)) return false;
  const auto hello = parse_hello(hello_bytes);
  if (!hello) throw other_program(name, where);
  Proof mine;
  fill_random(mine.nonce);
  mine.info = self.info;
  AnswerBytes answer_bytes;
  if (!write_whole(socket, render_proof(self.token, *hello, mine.nonce, self.info), deadline) ||
      !read_whole(socket, answer_bytes, deadline))
    return false;
  const auto answer = parse_answer(answer_bytes);
  if (!answer) throw other_program(name, where);
  check_answer(*answer, self, name, where);
  if (!is_proven(self.token, *hello, mine, *answer))
    throw Error(Fault::usage, fmt::format("the program that listens at {} does not have the token", where),
                where, "a port that no other program uses: see ss -ltnp on that host");
  return true;
}

}  // namespace

void accept_ranks(const Socket& listener, const TcpIdentity& self, const std::set<int>& expected,
                  TcpClock::time_point deadline, std::map<int, Socket>& accepted_ranks) {
  RankAcceptor acceptor(listener, self, expected, accepted_ranks);
  while (!acceptor.all_arrived()) {
    acceptor.check_errors(deadline);
    if (TcpClock::now() >= deadline && !acceptor.all_arrived()) throw acceptor.missing();
  }
}

Socket connect_to_rank(const TcpAddress& address, const TcpIdentity& self, int waits_for,
                       TcpClock::time_point deadline) {
  std::string problem = "no program listens";
  for (auto pause = first_pause; TcpClock::now() < deadline; pause = std::min(2 * pause, max_pause)) {
    std::optional<Socket> socket = try_connect(address.host, address.port, deadline, problem);
    if (socket && authenticate_to(*socket, self, waits_for, address.text(), deadline))
      return std::move(*socket);
    if (socket) problem = "it accepts connections and does not answer";
    const TcpClock::duration left = deadline - TcpClock::now();
    std::this_thread::sleep_for(std::clamp<TcpClock::duration>(left, TcpClock::duration(0), pause));
  }
  const std::string name = fmt::format("rank {}", waits_for);
  throw Error(
      Fault::lost,
      fmt::format("{} did not let rank {} in at {} within {:g} s: {}", name, self.info.rank, address.text(),
                  self.timeout_seconds, problem),
      name,
      "start rank 0; the address of its host in DDL_MASTER, and the same on all ranks; no firewall between; "
      "a longer DDL_OPTIONS=\"-timeout 300\"");
}

}  // namespace ddl
