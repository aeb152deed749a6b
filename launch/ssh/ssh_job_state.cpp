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
      ranks_.at(rank).is_service = group.is_service;
    }
  }
  // If all ranks are service ranks, the job waits for them.
  const bool all_serve = std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.is_service; });
  for (Rank& rank : ranks_) rank.is_service = rank.is_service && !all_serve;
  left_ = ranks_.size();
  workers_left_ = static_cast<std::size_t>(
      std::ranges::count_if(ranks_, [](const Rank& rank) { return !rank.is_service; }));
}

bool SshJobState::mark_ended(std::uint32_t rank) {
  if (rank >= ranks_.size() || ranks_[rank].ended) return false;
  ranks_[rank].ended = true;
  --left_;
  if (!ranks_[rank].is_service) --workers_left_;
  return true;
}

void SshJobState::end_services(Actions& actions) {
  if (stopping_ || services_ended_ || workers_left_ > 0) return;
  services_ended_ = true;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].ended) actions.end.push_back(rank);
  }
}

RankReport SshJobState::report_of(std::uint32_t rank, std::uint32_t value) const {
  RankReport report;
  report.rank = rank;
  report.host = rank < ranks_.size() ? hosts_[ranks_[rank].node].name : std::string();
  report.sign = RankStatus::ended;
  report.exit_status = shell_status(value);
  report.signal = static_cast<int>(value >= by_signal ? value - by_signal : 0);
  return report;
}

SshJobState::Actions SshJobState::rank_ended(std::uint32_t rank, std::uint32_t value) {
  Actions actions;
  if (!mark_ended(rank)) return actions;
  const bool as_requested = services_ended_ && ranks_[rank].is_service;
  if (value != 0 && stopping_ && !stop_status_) stop_status_ = shell_status(value);
  if (value != 0 && !stopping_ && !as_requested) {
    first_failure_ = report_of(rank, value);
    actions.messages.push_back(render_first_failure(*first_failure_));
    actions.stop = stopping_ = true;
  }
  end_services(actions);
  return actions;
}

SshJobState::Actions SshJobState::host_lost(std::uint32_t node, const std::string& stderr_text) {
  Actions actions;
  if (is_over(node)) return actions;
  std::size_t lost = 0;
  for (const std::uint32_t rank : hosts_[node].ranks) lost += mark_ended(rank) ? 1 : 0;
  if (stopping_ || services_ended_) return actions;
  actions.stop = stopping_ = lost_ = true;
  actions.messages.push_back(
      fmt::format("host {} was lost with {} rank{}: {}", hosts_[node].name, lost, lost == 1 ? "" : "s",
                  stderr_text.empty() ? "the connection to it ended" : printable(stderr_text, 160)));
  return actions;
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
