// SPDX-License-Identifier: MIT
#include "launch/history/ranks_svg.hpp"

#include "base/text/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace ddlrun::launch {

namespace {

constexpr std::size_t boxes_a_line = 20;
constexpr std::size_t most_boxes = 80;  // of one host
constexpr double box_width = 38, box_height = 20, box_gap = 4, name_width = 200, picture_width = 1060;

struct RankColour {
  std::string_view colour, meaning;
};
constexpr RankColour failed_colour{"#c0504d", "ended badly"};
constexpr RankColour with_job_colour{"#8d7aa8", "ended with the job"};
constexpr RankColour differs_colour{"#d9822b", "elsewhere than planned"};
constexpr RankColour silent_colour{"#b0b0b0", "no report"};
constexpr RankColour right_colour{"#7a9a52", "where it was planned"};
constexpr RankColour plain_colour{"#4878a8", "planned; not verified"};

RankColour colour_of(const RunRecord& run, const RunRank& rank) {
  const bool by_job = ended_with_job(run, rank);
  if (rank.exit_status.value_or(0) != 0 && !by_job) return failed_colour;
  if (rank.verdict == "differs") return differs_colour;
  if (rank.verdict == "silent") return silent_colour;
  if (by_job) return with_job_colour;
  return rank.verdict == "ok" ? right_colour : plain_colour;
}

using HostRanks = std::pair<std::string, std::vector<const RunRank*>>;

// In the order in which the ranks name them.
std::vector<HostRanks> ranks_by_host(const RunRecord& run) {
  std::vector<HostRanks> hosts;
  std::map<std::string, std::size_t> places;
  for (const RunRank& rank : run.ranks) {
    const auto [place, is_new] = places.emplace(rank.host, hosts.size());
    if (is_new) hosts.push_back({rank.host, {}});
    hosts[place->second].second.push_back(&rank);
  }
  return hosts;
}

void keep_odd_hosts_first(const RunRecord& run, std::vector<HostRanks>& hosts, std::size_t most) {
  if (hosts.size() <= most) return;
  std::stable_partition(hosts.begin(), hosts.end(), [&](const HostRanks& host) {
    return std::any_of(host.second.begin(), host.second.end(),
                       [&](auto* rank) { return is_odd(run, *rank); });
  });
  hosts.resize(most);
}

std::string draw_host(const RunRecord& run, const HostRanks& host, double& y) {
  std::string text = svg_text(name_width - 10, y + 14, host.first.substr(0, 28), " text-anchor=\"end\"");
  const std::size_t shown = std::min(host.second.size(), most_boxes);
  for (std::size_t i = 0; i < shown; ++i) {
    const RunRank& rank = *host.second[i];
    const double x = name_width + static_cast<double>(i % boxes_a_line) * (box_width + box_gap);
    if (i > 0 && i % boxes_a_line == 0) y += box_height + box_gap;
    const std::string title = fmt::format("rank {}: slot {}, PUs {}", rank.rank, rank.slot, rank.planned_pus);
    text += svg_rect({x, y, box_width, box_height}, colour_of(run, rank).colour, " rx=\"3\"", title) +
            svg_text(x + box_width / 2, y + 14, std::to_string(rank.rank),
                     " text-anchor=\"middle\" fill=\"#fff\" pointer-events=\"none\"");
  }
  y += box_height + box_gap;
  if (host.second.size() > shown) {
    text += svg_text(name_width, y + 14, fmt::format("and {} more ranks", host.second.size() - shown));
    y += box_height;
  }
  y += 4;
  return text;
}

std::string draw_meanings(const RunRecord& run, double y) {
  std::string text;
  double x = name_width;
  for (const RankColour& colour :
       {right_colour, differs_colour, silent_colour, failed_colour, with_job_colour, plain_colour}) {
    const bool is_used = std::any_of(run.ranks.begin(), run.ranks.end(), [&](const RunRank& rank) {
      return colour_of(run, rank).meaning == colour.meaning;
    });
    if (!is_used) continue;
    text += svg_rect({x, y, 12, 12}, colour.colour) + svg_text(x + 17, y + 11, colour.meaning);
    x += 45 + 6.6 * static_cast<double>(colour.meaning.size());
  }
  return text;
}

}  // namespace

bool ended_with_job(const RunRecord& run, const RunRank& rank) {
  const int status = rank.exit_status.value_or(0);
  return run.first_failure() != nullptr && run.first_failure()->rank != rank.rank &&
         (status == 143 || status == 137);
}

bool is_odd(const RunRecord& run, const RunRank& rank) {
  return (rank.exit_status.value_or(0) != 0 && !ended_with_job(run, rank)) || rank.verdict == "differs" ||
         rank.verdict == "silent";
}

std::string render_ranks_svg(const RunRecord& run, std::size_t most_hosts) {
  std::vector<HostRanks> hosts = ranks_by_host(run);
  if (hosts.empty()) return {};
  const std::size_t all = hosts.size();
  keep_odd_hosts_first(run, hosts, most_hosts);
  double y = 8;
  std::string body;
  for (const HostRanks& host : hosts) body += draw_host(run, host, y);
  if (all > hosts.size()) {
    body += svg_text(name_width, y + 14,
                     fmt::format("{} of {} hosts are drawn, those with odd ranks first", hosts.size(), all));
    y += 24;
  }
  body += draw_meanings(run, y + 6);
  return fmt::format(
             "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" font-size=\"12\" "
             "role=\"img\" "
             "aria-label=\"ranks by host\">\n",
             picture_width, y + 28) +
         body + "</svg>\n";
}

}  // namespace ddlrun::launch
