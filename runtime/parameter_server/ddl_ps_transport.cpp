// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/ddl_ps_transport.hpp"

#include "base/text/error.hpp"
#include "ddl/rank_messages.hpp"
#include "runtime/comm/ddl_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <thread>

namespace ddlrun::runtime {
namespace {

constexpr double spin_seconds = 0.002;
constexpr auto between_checks = std::chrono::milliseconds(10);
constexpr double answer_after_seconds = 0.05;  // then others may want to know for whom this rank waits
constexpr double usual_steps = 10.0;           // a worker may be at work as long as so many of its steps took
constexpr std::size_t max_requested = 64;      // ranks: the search ends at the first that does not reply
using TransportClock = std::chrono::steady_clock;
using Ticket = ddl::RankMessages::Ticket;
using Bytes = std::vector<std::byte>;
static_assert(sizeof(PushPullHeader) % sizeof(float) == 0);  // as RankMessages::send demands

void pack(Bytes& bytes, const PushPullHeader& header, std::span<const float> body) {
  bytes.resize(sizeof header + body.size_bytes());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!body.empty()) std::memcpy(bytes.data() + sizeof header, body.data(), body.size_bytes());
}

PushPullHeader unpack(const Bytes& bytes, std::span<float> body) {
  PushPullHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (!body.empty()) std::memcpy(body.data(), bytes.data() + sizeof header, body.size_bytes());
  return header;
}

double seconds_since(TransportClock::time_point start) {
  return std::chrono::duration<double>(TransportClock::now() - start).count();
}

class DdlPsTransport : public PsTransport {
 public:
  DdlPsTransport(std::unique_ptr<ddl::RankMessages> messages, std::size_t largest, PsTimeouts timeouts)
      : timeouts_(std::move(timeouts)),
        inbox_(sizeof(PushPullHeader) + largest * sizeof(float)),
        messages_(std::move(messages)) {}

  int rank() const override { return messages_->rank(); }

  std::vector<PushPullHeader> exchange(std::span<const int> servers, const PushPullHeader& header,
                                       std::span<const std::span<const float>> gradients,
                                       std::span<const std::span<float>> weights) override {
    std::vector<Ticket> arriving(servers.size());
    arrivals_.resize(servers.size());
    for (std::size_t i = 0; i < servers.size(); ++i) {
      arrivals_[i].resize(sizeof header + weights[i].size_bytes());
      arriving[i] = messages_->receive(servers[i], arrivals_[i]);
    }
    for (std::size_t i = 0; i < servers.size(); ++i) send(servers[i], header, gradients[i]);
    std::vector<PushPullHeader> notes;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      wait_for(arriving[i], {"weights of a parameter server", {servers[i]}, true});
      notes.push_back(unpack(arrivals_[i], weights[i]));
    }
    return notes;
  }

  Received receive(std::span<float> gradients, std::span<const std::size_t> awaited) override {
    const Ticket arriving =
        messages_->receive({}, std::span(inbox_).first(sizeof(PushPullHeader) + gradients.size_bytes()));
    const int from =
        wait_for(arriving, {"gradients for the parameter servers", {awaited.begin(), awaited.end()}, false});
    if (const auto answered = answered_.find(from); answered != answered_.end())
      longest_[from] = std::max(longest_[from], seconds_since(answered->second));
    return {from, unpack(inbox_, gradients)};
  }

  void reply(int worker, const PushPullHeader& header, std::span<const float> weights) override {
    send(worker, header, weights);
    answered_[worker] = TransportClock::now();
  }

 private:
  struct Outgoing {
    Bytes bytes;
    std::optional<Ticket> under_way;
  };
  struct Wait {
    const char* what;
    std::vector<int> ranks;  // first the one that leads to a rank that does not reply, once it is known
    bool is_for_server;
  };

  // At most one message is in flight to each rank: the previous one was answered, so it was received.
  void send(int to, const PushPullHeader& header, std::span<const float> body) {
    Outgoing& outgoing = outgoing_[to];
    if (outgoing.under_way) wait_for(*outgoing.under_way, {"send of the previous message", {to}, false});
    pack(outgoing.bytes, header, body);
    outgoing.under_way = messages_->send(to, outgoing.bytes);
  }

  // Returns the other rank of the message.
  int wait_for(Ticket ticket, Wait wait) {
    const auto start = TransportClock::now();
    ddl::StallTimer stall(timeouts_.stall);
    double judge_at = deadline_of(wait);
    auto next_check = start;
    for (int turn = 1;; ++turn) {
      const std::optional<int> other = messages_->test(ticket);
      const double waited = seconds_since(start);
      if (other) {
        stall.over(waited);
        return *other;
      }
      if (turn < 1000 && waited < spin_seconds) continue;          // a turn is long where the cores are full
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // the workers' cores are not ours
      if (TransportClock::now() < next_check) continue;
      next_check = TransportClock::now() + between_checks;
      std::optional<Error> blame;
      if (const int lost = find_gone(wait); lost >= 0) {
        blame = refuse_gone(lost, wait);
      } else if (waited > judge_at) {
        blame = judge(wait, waited);
        judge_at = waited + deadline_of(wait);
      }
      if (blame) {
        // A last message may have come before the end was seen.
        if (const auto last = messages_->test(ticket)) return *last;
        fail(*blame);
      }
      if (waited > answer_after_seconds) answer_others(wait);
      stall.waited(waited, [&] { return describe(wait); });
    }
  }

  // Time without suspicion. A server replies soon; a worker computes for about as long as before.
  double deadline_of(const Wait& wait) const {
    if (wait.is_for_server) return std::min(timeouts_.silent_seconds, timeouts_.max_seconds);
    double longest = 0.0;
    for (const int rank : wait.ranks) {
      const auto known = longest_.find(rank);
      if (known == longest_.end()) return timeouts_.max_seconds;
      longest = std::max(longest, known->second);
    }
    return std::min(std::max(timeouts_.silent_seconds, usual_steps * longest), timeouts_.max_seconds);
  }

  // For ranks of this host the system reports whether they run; a rank of another host that does not reply is
  // lost.
  std::optional<Error> judge(Wait& wait, double waited) {
    if (all_local(wait) && waited <= timeouts_.max_seconds) return std::nullopt;
    const auto silence = find_silent(wait);
    const bool lost = silence && !messages_->is_local(silence->rank);
    // A server that replies waits for another rank itself and reports that first.
    const double most = timeouts_.max_seconds * (wait.is_for_server && !silence ? 2.0 : 1.0);
    if (!lost && waited <= most) return std::nullopt;
    return lost ? refuse_silent(*silence, wait, waited) : refuse_silence(wait);
  }

  bool all_local(const Wait& wait) const {
    return std::all_of(wait.ranks.begin(), wait.ranks.end(),
                       [this](int rank) { return messages_->is_local(rank); });
  }

  void answer_others(const Wait& wait) {
    try {
      messages_->poll(wait.ranks);
    } catch (const ddl::Error& error) {
      throw Error(convert_error(error));
    }
  }

  // The first rank that does not reply: an awaited one, or one that an awaited one waits for.
  std::optional<ddl::RankMessages::Unresponsive> find_silent(Wait& wait) {
    try {
      for (std::size_t i = 0; i < std::min(max_requested, wait.ranks.size()); ++i) {
        ddl::RankMessages::Unresponsive silence = messages_->find_unresponsive(wait.ranks[i]);
        if (silence.deadlock) continue;
        std::swap(wait.ranks.front(), wait.ranks[i]);
        return silence;
      }
    } catch (const ddl::Error& error) {
      throw Error(convert_error(error));
    }
    return std::nullopt;
  }

  int find_gone(const Wait& wait) const {
    for (const int rank : wait.ranks) {
      if (messages_->has_exited(rank)) return rank;
    }
    return -1;
  }

  // The system shows the state of this host's ranks at once; a sleeping server waits itself and reports for
  // which rank. Between hosts an answering rank waits too: the report names the silent ranks.
  ddl::Stall describe(Wait& wait) {
    ddl::Stall stall;
    stall.call = wait.what;
    if (all_local(wait)) {
      for (const int rank : wait.ranks) {
        const std::string state = messages_->state_of(rank);
        if (wait.is_for_server && (state.ends_with(" sleeps") || state.ends_with(" runs"))) continue;
        if (stall.missing.empty()) stall.seen = state;
        stall.missing.push_back(messages_->name_of(rank));
      }
    } else if (const auto silence = find_silent(wait)) {
      stall.missing.push_back(silence->name);
      stall.seen = messages_->is_local(silence->rank) ? messages_->state_of(silence->rank) : silence->chain;
    }
    return stall;
  }

  // The others hear it from here, so that they do not blame this rank.
  [[noreturn]] void fail(const Error& error) {
    const Message& message = error.message();
    messages_->report_failure(ddl::Error(ddl::Fault::lost, message.what, message.where, message.hint));
    throw Error(error);
  }
  static Error refuse_servers(std::string what, std::string hint) {
    return {ErrorKind::request, {std::move(what), "parameter servers", std::move(hint)}};
  }
  Error refuse_gone(int lost, const Wait& wait) const {
    return refuse_servers(fmt::format("{} exited while {} waits for the {}", messages_->name_of(lost),
                                      messages_->own_name(), wait.what),
                          "see that rank's messages above; dmesg, if the kernel killed it");
  }
  Error refuse_silent(const ddl::RankMessages::Unresponsive& silence, const Wait& wait, double waited) const {
    return refuse_servers(fmt::format("{} does not respond: {} has waited {:.0f} s for the {}: {}",
                                      silence.name, messages_->own_name(), waited, wait.what, silence.chain),
                          "check that host and its network; DDL_OPTIONS=\"-timeout 600\" waits longer");
  }
  Error refuse_silence(const Wait& wait) const {
    std::string names;
    for (const int rank : wait.ranks) names += (names.empty() ? "" : ", ") + messages_->name_of(rank);
    return refuse_servers(fmt::format("{} has waited {:.0f} s for the {} from {}", messages_->own_name(),
                                      timeouts_.max_seconds, wait.what, names),
                          "see those ranks' messages above; ddlrun diagnose LOG");
  }

  PsTimeouts timeouts_;
  Bytes inbox_;
  std::vector<Bytes> arrivals_;
  std::map<int, Outgoing> outgoing_;
  std::map<int, TransportClock::time_point> answered_;  // when a worker began its step
  std::map<int, double> longest_;                       // of a worker's steps, in seconds
  std::unique_ptr<ddl::RankMessages> messages_;         // last: ends first, for it uses what is above
};

}  // namespace

std::unique_ptr<PsTransport> make_ddl_ps_transport(Communicator& ranks, std::size_t largest,
                                                   PsTimeouts timeouts) {
  std::unique_ptr<ddl::RankMessages> messages = ranks.open_messages();
  if (messages == nullptr)
    throw Error(ErrorKind::request,
                {"parameter servers need MPI, but these ranks were started without it", "DDL_MASTER",
                 "unset DDL_MASTER, and start with ddlrun launch or mpirun"});
  return std::make_unique<DdlPsTransport>(std::move(messages), largest, std::move(timeouts));
}

}  // namespace ddlrun::runtime
