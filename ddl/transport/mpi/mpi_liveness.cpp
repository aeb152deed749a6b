// SPDX-License-Identifier: MIT
#include "ddl/mpi_liveness.hpp"

#include "ddl/core/liveness_inspector.hpp"
#include "ddl/core/process_id.hpp"
#include "ddl/transport/mpi/mpi_oob_channel.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ddl {

struct MpiLiveness::Impl {
  struct Card {
    char host[65] = {};
    bool is_local = false;
    ProcessId process;
  };

  explicit Impl(MPI_Comm group) {
    int size = 0;
    MPI_Comm_size(group, &size);
    MPI_Comm_rank(group, &rank);
    Card mine;
    gethostname(mine.host, sizeof(mine.host) - 1);
    mine.process = this_process_id();
    cards.resize(static_cast<std::size_t>(size));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, group);
    for (Card& card : cards)
      card.is_local = std::string_view(card.host) == mine.host && is_running(card.process, true);
    std::vector<int> others;
    for (int other = 0; other < size; ++other) {
      if (other != rank) others.push_back(other);
    }
    inspector.emplace(
        make_mpi_oob_channel(group), [this](int other) { return name_of(other); }, std::move(others));
  }

  const Card& card(int of) const { return cards[static_cast<std::size_t>(of)]; }
  std::string name_of(int of) const { return fmt::format("rank {} ({})", of, card(of).host); }

  int rank = 0;
  std::vector<Card> cards;
  std::optional<LivenessInspector> inspector;
};

MpiLiveness::MpiLiveness(MPI_Comm group) : impl_(std::make_unique<Impl>(group)) {}
MpiLiveness::~MpiLiveness() = default;

std::string MpiLiveness::name_of(int rank) const { return impl_->name_of(rank); }
std::string MpiLiveness::own_name() const { return impl_->name_of(impl_->rank); }
bool MpiLiveness::is_local(int rank) const { return impl_->card(rank).is_local; }

bool MpiLiveness::has_exited(int rank) const {
  return is_local(rank) && !is_running(impl_->card(rank).process, true);
}

std::string MpiLiveness::state_of(int rank) const {
  return is_local(rank) ? describe_process(impl_->card(rank).process) : "";
}

void MpiLiveness::poll(std::span<const int> ranks) { impl_->inspector->poll(ranks); }

MpiLiveness::Unresponsive MpiLiveness::find_unresponsive(int rank) {
  LivenessInspector::Unresponsive found = impl_->inspector->find_unresponsive(rank);
  return {found.rank, found.deadlock, std::move(found.name), std::move(found.chain)};
}

void MpiLiveness::report_failure(const Error& error) noexcept { impl_->inspector->report_failure(error); }

}  // namespace ddl
