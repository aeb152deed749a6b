// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_summary.hpp"

#include "base/text/text.hpp"
#include "topology/rankfile/rankfile_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

using Findings = std::vector<RankfileFinding>;

constexpr std::size_t slow_from_ranks = 20'000;

RankfileFinding finding(std::string_view id, Severity severity, int line, std::string what,
                        std::string hint) {
  return {std::string(id), severity, line, 0, std::move(what), std::move(hint), ""};
}

std::uint32_t largest_rank(const RankfileFacts& facts) {
  std::uint32_t largest = 0;
  for (const auto& entry : facts.entries) largest = std::max(largest, entry.rank);
  return largest;
}

// The line of each rank's first entry; 0 for a rank that is missing.
std::vector<int> first_lines(const RankfileFacts& facts) {
  std::vector<int> lines(facts.entries.empty() ? 0 : largest_rank(facts) + std::size_t{1}, 0);
  for (const auto& entry : facts.entries) {
    if (lines[entry.rank] == 0) lines[entry.rank] = entry.line;
  }
  return lines;
}

Findings check_order(const RankfileFacts& facts, const std::vector<int>& lines) {
  Findings findings;
  std::vector<int> seen(lines.size(), 0);
  for (const auto& entry : facts.entries) {
    if (seen[entry.rank] != 0) {
      findings.push_back(finding(
          "duplicate-rank", Severity::error, entry.line,
          fmt::format("rank {} is already in line {}; {}", entry.rank, seen[entry.rank],
                      entry.rank == 0 ? "Open MPI refuses the file"
                                      : "Open MPI takes the last one silently, or misses another rank"),
          "give each rank one line"));
    }
    seen[entry.rank] = entry.line;
  }
  if (!facts.entries.empty() && facts.entries.front().rank != 0 && lines[0] != 0) {
    findings.push_back(finding(
        "rank-0-not-first", Severity::error, lines[0],
        fmt::format("rank 0 follows rank {} of line {}: Open MPI then says that rank 0 is already assigned",
                    facts.entries.front().rank, facts.entries.front().line),
        "make rank 0's line the first one; the order of the others is free"));
  }
  return findings;
}

Findings check_completeness(const RankfileFacts& facts, const CheckContext& context,
                            const std::vector<int>& lines) {
  Findings findings;
  if (facts.entries.empty()) {
    findings.push_back(finding("no-ranks", Severity::error, facts.last_line,
                               "there is no rank line in the file",
                               "ddlrun gen-rankfile DIMS HOSTS writes one"));
    return findings;
  }
  const std::size_t wanted = std::max<std::size_t>(lines.size(), context.ranks.value_or(0));
  const std::size_t needed = context.ranks ? *context.ranks : lines.size();
  for (std::size_t rank = 0; rank < wanted; ++rank) {
    if (rank < lines.size() && lines[rank] != 0) continue;
    std::size_t end = rank;
    while (end < wanted && (end >= lines.size() || lines[end] == 0)) ++end;
    const int line = end < lines.size() ? lines[end] : facts.entries.back().line;
    const std::string which = end - rank == 1 ? fmt::format("rank {} has", rank)
                                              : fmt::format("ranks {} to {} have", rank, end - 1);
    if (rank < needed) {
      findings.push_back(finding(
          "missing-rank", Severity::error, line,
          fmt::format("{} no line; {} rank{} requested", which, needed, needed == 1 ? " is" : "s are"),
          "add the missing lines, or number the ranks without holes"));
    }
    rank = end;
  }
  if (context.ranks && *context.ranks < lines.size()) {
    const auto unused = std::find_if(facts.entries.begin(), facts.entries.end(),
                                     [&](const auto& entry) { return entry.rank >= *context.ranks; });
    findings.push_back(
        finding("ranks-unused", Severity::error, unused->line,
                fmt::format("the file places {} ranks, -n requests {}: the rest is left out silently",
                            lines.size(), *context.ranks),
                fmt::format("-n {}, or a rankfile for {} ranks", lines.size(), *context.ranks)));
  }
  if (facts.entries.size() > slow_from_ranks) {
    findings.push_back(finding("many-ranks", Severity::note, 0,
                               fmt::format("{} ranks: mpirun's own mapping takes minutes from about {} on",
                                           facts.entries.size(), slow_from_ranks),
                               "fewer, larger ranks, or several jobs"));
  }
  return findings;
}

Findings check_given_dims(const RankfileFacts& facts, const CheckContext& context, std::size_t ranks) {
  Findings findings;
  if (!context.dims) return findings;
  const Dims& dims = *context.dims;
  const std::string shape = render_dims(dims);
  if (context.ranks && *context.ranks != dims.world_size()) {
    findings.push_back(
        finding("dims-and-n", Severity::error, 0,
                fmt::format("{} is {} ranks, -n is {}", shape, dims.world_size(), *context.ranks),
                fmt::format("-n {}", dims.world_size())));
  }
  if (ranks != dims.world_size()) {
    findings.push_back(
        finding("dims-and-ranks", Severity::error, facts.last_line,
                fmt::format("{} is {} ranks, the file places {}", shape, dims.world_size(), ranks),
                fmt::format("ddlrun gen-rankfile {} HOSTS writes a file that fits", shape)));
  }
  if (facts.hosts.size() != dims.host_count()) {
    findings.push_back(finding(
        "dims-and-hosts", Severity::error, facts.last_line,
        fmt::format("{} needs {} hosts, the file names {}", shape, dims.host_count(), facts.hosts.size()),
        fmt::format("ddlrun gen-rankfile {} HOSTS with {} hosts", shape, dims.host_count())));
  }
  if (facts.header.dims && !(*facts.header.dims == dims)) {
    findings.push_back(
        finding("dims-and-header", Severity::warning, facts.header.dims_line,
                fmt::format("the header says {}, --dims says {}", render_dims(*facts.header.dims), shape),
                fmt::format("--dims {}, or a new file for {}", render_dims(*facts.header.dims), shape)));
  }
  return findings;
}

Findings check_header(const RankfileFacts& facts, std::size_t ranks) {
  Findings findings;
  const FileHeader& header = facts.header;
  if (header.assumed_topology) {
    findings.push_back(
        finding("assumed-topology", Severity::error, header.topology_line,
                "the cores in this file were assumed, no machine was looked at when it was written",
                "write it again with --topology FILE, --sockets S --cores C, or where the hosts answer"));
  }
  if (header.dims &&
      (header.dims->world_size() != ranks || header.dims->host_count() != facts.hosts.size())) {
    findings.push_back(
        finding("header-dims", Severity::warning, header.dims_line,
                fmt::format("the header says {} ({} ranks on {} hosts), the lines below place {} on {}",
                            render_dims(*header.dims), header.dims->world_size(), header.dims->host_count(),
                            ranks, facts.hosts.size()),
                "correct the header, or write the file again with ddlrun gen-rankfile"));
  }
  std::unordered_set<std::string_view> named;
  for (const std::string& host : header.hosts) named.insert(folded_name(host));
  for (const auto& host : facts.hosts) {
    if (header.hosts.empty() || named.erase(host.folded) != 0) continue;
    findings.push_back(finding("header-hosts", Severity::warning, host.first_line,
                               fmt::format("host {} is not in the header's #host list of line {}",
                                           printable(host.name, 64), header.hosts_line),
                               "correct the header, or write the file again with ddlrun gen-rankfile"));
  }
  if (!named.empty()) {
    findings.push_back(finding("header-hosts", Severity::warning, header.hosts_line,
                               fmt::format("{} of the header's {} hosts have no rank, {} among them",
                                           named.size(), header.hosts.size(), printable(*named.begin(), 64)),
                               "correct the header, or write the file again with ddlrun gen-rankfile"));
  }
  return findings;
}

Findings check_allocation(const RankfileFacts& facts, const CheckContext& context) {
  Findings findings;
  if (context.allocation.empty()) return findings;
  std::unordered_set<std::string_view> allocated;
  for (const auto* names : {&context.allocation, &context.aliases})
    for (const std::string& name : *names) allocated.insert(folded_name(name));
  for (const auto& host : facts.hosts) {
    if (allocated.contains(host.folded)) continue;
    if (context.mpi_major >= 5 && is_relative_name(host.name)) continue;  // counts the allocation's hosts
    const bool few = findings.size() < 10 && context.allocation.size() <= 10'000;
    const auto near = few ? closest_match(host.name, context.allocation) : std::nullopt;
    findings.push_back(finding(
        "not-in-allocation", Severity::error, host.first_line,
        fmt::format(
            "host {} is not a name of the allocation ({} name{}, {} first); Open MPI says \"either not "
            "allocated or oversubscribed\" or that all nodes are filled",
            printable(host.name, 64), context.allocation.size(), context.allocation.size() == 1 ? "" : "s",
            context.allocation.front()),
        near ? fmt::format("did you mean {}? The names must be those of the hostfile or scheduler", *near)
             : "write the names that the hostfile or scheduler uses; choose the network with "
               "btl_tcp_if_include"));
  }
  return findings;
}

// Ranges of one host sorted by package and first core; a range that begins before the farthest end so far
// overlaps.
Findings check_overlaps(std::vector<RankfileFacts::Use> uses, const RankfileFacts& facts, int mpi_major) {
  Findings findings;
  std::sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.host, a.range.package, a.range.first, a.line) <
           std::tuple(b.host, b.range.package, b.range.first, b.line);
  });
  int reported = 0;
  for (std::size_t i = 1, far = 0; i < uses.size(); ++i) {
    const auto& use = uses[i];
    const auto& other = uses[far];
    const bool same = use.host == other.host && use.range.package == other.range.package;
    if (same && use.range.first <= other.range.last && use.rank != other.rank &&
        reported != std::max(use.line, other.line)) {
      reported = std::max(use.line, other.line);
      const std::string where =
          use.range.package >= 0 ? fmt::format(" of package {}", use.range.package) : "";
      findings.push_back(finding(
          "overlap", mpi_major >= 5 ? Severity::error : Severity::warning, reported,
          fmt::format("ranks {} and {} (lines {} and {}) both get core {}{} of {}; {}",
                      std::min(use.rank, other.rank), std::max(use.rank, other.rank),
                      std::min(use.line, other.line), reported, use.range.first, where,
                      printable(facts.hosts[use.host].name, 64),
                      mpi_major >= 5 ? "Open MPI 5 refuses that" : "Open MPI 4 accepts that silently"),
          mpi_major >= 5 ? "give each rank cores of its own, or allow it with --bind-to :overload-allowed"
                         : "give each rank cores of its own"));
    }
    if (!same || use.range.last > other.range.last) far = i;
  }
  return findings;
}

}  // namespace

std::vector<RankfileFinding> check_facts(RankfileFacts facts, const CheckContext& context) {
  const std::vector<int> lines = first_lines(facts);
  const auto ranks =
      static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [](int line) { return line != 0; }));
  Findings all = check_order(facts, lines);
  const auto add = [&all](Findings more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  add(check_completeness(facts, context, lines));
  add(check_given_dims(facts, context, ranks));
  add(check_header(facts, ranks));
  add(check_allocation(facts, context));
  if (!context.shares_cores) add(check_overlaps(std::move(facts.uses), facts, context.mpi_major));
  return all;
}

}  // namespace ddlrun::rankfile
