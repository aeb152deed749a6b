// SPDX-License-Identifier: MIT
#include "ddl/rank_messages.hpp"

#include "ddl/core/fixed_text.hpp"
#include "ddl/core/liveness_inspector.hpp"
#include "ddl/core/peer_text.hpp"
#include "ddl/core/process_id.hpp"
#include "ddl/transport/message_wire.hpp"
#include "ddl/transport/transport.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace ddl {

struct RankMessages::Impl {
  struct Card {
    char host[65] = {};
    bool is_local = false;
    ProcessId process;
  };

  Impl(Transport& transport, std::unique_ptr<MessageWire> given)
      : rank(transport.rank()),
        cards(gather_cards(transport)),
        inspector(
            transport.make_oob_channel(), [this](int other) { return name_of(other); }, others()),
        wire(std::move(given)) {}

  static std::vector<Card> gather_cards(Transport& transport) {
    Card mine;
    gethostname(mine.host, sizeof(mine.host) - 1);
    mine.process = this_process_id();
    std::vector<Card> all;
    for (const std::string& bytes :
         transport.gather(std::string(reinterpret_cast<const char*>(&mine), sizeof mine))) {
      if (bytes.size() != sizeof mine)
        throw Error(Fault::mismatch, "a rank of another version of libddl", "RankMessages",
                    "the same libddl on all hosts");
      Card& card = all.emplace_back();
      std::memcpy(&card, bytes.data(), sizeof card);
      store_text(card.host, printable(text_in(card.host)));
      card.is_local = std::string_view(card.host) == mine.host && is_running(card.process, true);
    }
    return all;
  }
  std::vector<int> others() const {
    std::vector<int> all;
    for (int other = 0; other < static_cast<int>(cards.size()); ++other) {
      if (other != rank) all.push_back(other);
    }
    return all;
  }
  const Card& card(int of) const { return cards[static_cast<std::size_t>(of)]; }
  std::string name_of(int of) const { return fmt::format("rank {} ({})", of, card(of).host); }

  int rank;
  std::vector<Card> cards;
  LivenessInspector inspector;
  std::unique_ptr<MessageWire> wire;
};

std::unique_ptr<RankMessages> make_rank_messages(Transport& transport) {
  std::unique_ptr<MessageWire> wire = transport.make_message_wire();
  if (wire == nullptr) return nullptr;
  auto impl = std::make_unique<RankMessages::Impl>(transport, std::move(wire));
  return std::unique_ptr<RankMessages>(new RankMessages(std::move(impl)));
}

RankMessages::RankMessages(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RankMessages::~RankMessages() = default;

int RankMessages::rank() const { return impl_->rank; }
RankMessages::Ticket RankMessages::send(int to, std::span<const std::byte> bytes) {
  return impl_->wire->send(to, bytes);
}
RankMessages::Ticket RankMessages::receive(std::optional<int> from, std::span<std::byte> bytes) {
  return impl_->wire->receive(from, bytes);
}
std::optional<int> RankMessages::test(Ticket ticket) { return impl_->wire->test(ticket); }

std::string RankMessages::name_of(int rank) const { return impl_->name_of(rank); }
std::string RankMessages::own_name() const { return impl_->name_of(impl_->rank); }
bool RankMessages::is_local(int rank) const { return impl_->card(rank).is_local; }

bool RankMessages::has_exited(int rank) const {
  return is_local(rank) && !is_running(impl_->card(rank).process, true);
}

std::string RankMessages::state_of(int rank) const {
  return is_local(rank) ? describe_process(impl_->card(rank).process) : "";
}

void RankMessages::poll(std::span<const int> ranks) { impl_->inspector.poll(ranks); }

RankMessages::Unresponsive RankMessages::find_unresponsive(int rank) {
  LivenessInspector::Unresponsive found = impl_->inspector.find_unresponsive(rank);
  return {found.rank, found.deadlock, std::move(found.name), std::move(found.chain)};
}

void RankMessages::report_failure(const Error& error) noexcept { impl_->inspector.report_failure(error); }

}  // namespace ddl
