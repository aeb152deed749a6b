// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_oob_channel.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <unordered_map>

namespace ddl {
namespace {

constexpr int max_hops = 16;
constexpr auto failure_grace = std::chrono::milliseconds(100);

struct RoutedMessage {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t hops = 0;
  OobMessage message;
};
static_assert(std::is_trivially_copyable_v<RoutedMessage>);

class TcpOobChannel : public OobChannel {
 public:
  explicit TcpOobChannel(TcpMesh& mesh) : mesh_(mesh) {}

  int rank() const override { return mesh_.rank(); }

  // A rank that gives up sends the reason to all connected ranks: they see its end and would report it as
  // lost.
  void send(int to, const OobMessage& message) override {
    if (message.kind != OobMessage::Kind::failure) return post({mesh_.rank(), to, 0, message});
    if (std::exchange(failure_sent_, true)) return;
    for (const auto& [rank, link] : mesh_.connections()) post({mesh_.rank(), rank, 0, message});
  }

  std::optional<Received> take() override {
    mesh_.progress(std::chrono::milliseconds(0));
    for (const auto& [rank, link] : mesh_.connections()) {
      while (auto text = link->take(channel::oob)) {
        if (auto received = open(rank, text->text)) return received;
      }
    }
    check_lost_ranks();
    return std::nullopt;
  }

 private:
  void post(const RoutedMessage& message) {
    TcpConnection* link = find_route(message.to);
    if (link != nullptr)
      link->send_copy(channel::oob, 0, {reinterpret_cast<const char*>(&message), sizeof(message)});
  }

  TcpConnection* find_route(int to) {
    for (int hops = 0; hops < max_hops; ++hops) {
      if (TcpConnection* link = mesh_.connection_to(to)) return link;
      const auto next = next_hop_.find(to);
      if (next == next_hop_.end()) return nullptr;
      to = next->second;
    }
    return nullptr;
  }

  bool is_rank(int rank) const { return rank >= 0 && rank < mesh_.size(); }

  // What is for another rank goes on. Ranks are indices: a message with another number is dropped.
  std::optional<Received> open(int carrier, const std::string& text) {
    RoutedMessage message;
    if (text.size() != sizeof(message)) return std::nullopt;
    std::memcpy(&message, text.data(), sizeof(message));
    const int waits_for = message.message.waits_for;
    if (!is_rank(message.from) || !is_rank(message.to) || (waits_for != -1 && !is_rank(waits_for)))
      return std::nullopt;
    if (message.from != carrier) next_hop_[message.from] = carrier;
    if (message.message.kind == OobMessage::Kind::answer && message.message.waits_for >= 0)
      next_hop_[message.message.waits_for] = message.from;
    if (message.to == mesh_.rank()) return Received{message.from, message.message};
    if (++message.hops < max_hops) post(message);
    return std::nullopt;
  }

  void check_lost_ranks() {
    const int lost = mesh_.find_lost();
    if (lost < 0) return;
    const auto now = TcpClock::now();
    if (!lost_since_) lost_since_ = now;
    if (now - *lost_since_ >= failure_grace) throw mesh_.lost(lost);
  }

  TcpMesh& mesh_;
  bool failure_sent_ = false;
  std::unordered_map<int, int> next_hop_;  // of ranks to which there is no connection: who has one, or knows
  std::optional<TcpClock::time_point> lost_since_;
};

}  // namespace

std::unique_ptr<OobChannel> make_tcp_oob_channel(TcpMesh& mesh) {
  return std::make_unique<TcpOobChannel>(mesh);
}

}  // namespace ddl
