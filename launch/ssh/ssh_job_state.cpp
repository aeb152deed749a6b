// SPDX-License-Identifier: MIT
#include "launch/ssh/ssh_job_state.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr std::uint32_t by_signal = 256;

int shell_status(std::uint32_t value) {
  return static_cast<int>(value >= by_signal ? 128 + (value - by_signal) % 128 : value);
}

}  // namespace

std::uint32_t exit_value(int exit_status, int signal) {
  return signal > 0 ? by_signal + static_cast<std::uint32_t>(signal)
                    : static_cast<std::uint32_t>(exit_status);
}

SshJobState::SshJobState(const RankMap& rank_map) : hosts_(rank_map.hosts) {
  ranks_.resize(rank_map.size());
  for (std::uint32_t node = 0; node < hosts_.size(); ++node) {
    for (const std::uint32_t rank : hosts_[node].ranks) ranks_.at(rank).node = node;
  }
  for (const RankGroup& group : rank_map.groups) {
    for (std::uint32_t rank = group.first; rank < group.first + group.ranks; ++rank) {
      ranks_.at(rank).serves = group.serves;
    }
  }
  // If all ranks are service ranks, the job waits for them.
  const bool all_serve = std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.serves; });
  for (Rank& rank : ranks_) rank.serves = rank.serves && !all_serve;
  left_ = ranks_.size();
  workers_left_ =
      static_cast<std::size_t>(std::ranges::count_if(ranks_, [](const Rank& rank) { return !rank.serves; }));
}

bool SshJobState::mark_ended(std::uint32_t rank) {
  if (rank >= ranks_.size() || ranks_[rank].ended) return false;
  ranks_[rank].ended = true;
  --left_;
  if (!ranks_[rank].serves) --workers_left_;
  return true;
}

void SshJobState::end_servers(Orders& orders) {
  if (stopping_ || servers_ended_ || workers_left_ > 0) return;
  servers_ended_ = true;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].ended) orders.end.push_back(rank);
  }
}

SshJobState::Orders SshJobState::rank_ended(std::uint32_t rank, std::uint32_t value) {
  Orders orders;
  if (!mark_ended(rank)) return orders;
  const bool as_told = servers_ended_ && ranks_[rank].serves;
  if (value != 0 && stopping_ && !stop_status_) stop_status_ = shell_status(value);
  if (value != 0 && !stopping_ && !as_told) {
    RankReport& report = first_failure_.emplace();
    report.rank = rank;
    report.host = hosts_[ranks_[rank].node].name;
    report.sign = RankStatus::ended;
    report.exit_status = shell_status(value);
    report.signal = static_cast<int>(value >= by_signal ? value - by_signal : 0);
    orders.messages.push_back(render_first_failure(report));
    orders.stop = stopping_ = true;
  }
  end_servers(orders);
  return orders;
}

SshJobState::Orders SshJobState::host_lost(std::uint32_t node, const std::string& said) {
  Orders orders;
  if (is_over(node)) return orders;
  std::size_t lost = 0;
  for (const std::uint32_t rank : hosts_[node].ranks) lost += mark_ended(rank) ? 1 : 0;
  if (stopping_ || servers_ended_) return orders;
  orders.stop = stopping_ = lost_ = true;
  orders.messages.push_back(fmt::format("host {} was lost with {} rank{}: {}", hosts_[node].name, lost,
                                        lost == 1 ? "" : "s",
                                        said.empty() ? "the connection to it ended" : printable(said, 160)));
  return orders;
}

bool SshJobState::is_over(std::uint32_t node) const {
  return node >= hosts_.size() ||
         std::ranges::all_of(hosts_[node].ranks, [&](std::uint32_t rank) { return ranks_[rank].ended; });
}

int SshJobState::status() const {
  if (lost_) return exit_code(ErrorKind::unreachable);
  if (first_failure_) return first_failure_->exit_status;
  return stop_status_.value_or(0);
}

}  // namespace ddlrun::launch
