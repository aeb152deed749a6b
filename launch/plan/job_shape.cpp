// SPDX-License-Identifier: MIT
#include "launch/plan/job_shape.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::cli {

namespace {

std::uint32_t shape_factor(const std::string& text, const char* option, std::uint32_t otherwise) {
  if (text.empty()) return otherwise;
  const auto number = parse_unsigned(text, topology::max_ranks);
  if (!number || *number == 0) {
    throw Error(ErrorKind::usage,
                {fmt::format("'{}' is no count from 1 to {}", printable(text, 40), topology::max_ranks),
                 option, std::string_view(option) == "-H" ? "-H h1:4,h2:4" : fmt::format("{} 4", option)});
  }
  return static_cast<std::uint32_t>(*number);
}

// At the commas that stand outside brackets: "n[1,3]:4,h2:2" is two words.
std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] != ',' || depth != 0) continue;
    words.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  words.push_back(text.substr(begin));
  return words;
}

struct HostWord {
  std::string names;  // "h1", "n[1,3]"
  std::string count;  // "4", or ""
};

std::vector<HostWord> parse_host_words(std::string_view text) {
  std::vector<HostWord> hosts;
  for (const std::string_view word : split_words(text)) {
    const std::size_t colon = word.rfind(':');
    if (colon == std::string_view::npos)
      hosts.push_back({std::string(word), ""});
    else
      hosts.push_back({std::string(word.substr(0, colon)), std::string(word.substr(colon + 1))});
    if (hosts.back().count.empty() == hosts.front().count.empty()) continue;
    const HostWord& counted = hosts.back().count.empty() ? hosts.front() : hosts.back();
    const HostWord& bare = hosts.back().count.empty() ? hosts.back() : hosts.front();
    throw Error(
        ErrorKind::usage,
        {fmt::format("{} has {} ranks, {} has no count", printable(counted.names, 60),
                     printable(counted.count, 20), printable(bare.names, 60)),
         "-H", fmt::format("-H {}:{},{}:{}", counted.names, counted.count, bare.names, counted.count)});
  }
  return hosts;
}

void take_counts(const std::vector<HostWord>& hosts, LaunchOptions& options) {
  std::vector<std::uint32_t> counts;
  for (const HostWord& host : hosts) {
    const std::uint32_t count = shape_factor(host.count, "-H", 1);
    counts.insert(counts.end(), expand_host_list(host.names).size(), count);
  }
  const bool even = std::all_of(counts.begin(), counts.end(), [&](auto count) { return count == counts[0]; });
  const std::string all = even ? fmt::format("{}", counts[0]) : "";
  if (!even && (!options.dims.empty() || has_shape(options))) {
    throw Error(ErrorKind::usage, {"-H gives the hosts different numbers of ranks, DIMS the same",
                                   "-H and DIMS", "one of the two"});
  }
  if (even && !options.accelerators.empty() && options.accelerators != all) {
    throw Error(ErrorKind::usage, {fmt::format("-H says {} ranks for each host, --ranks-per-host {}", all,
                                               printable(options.accelerators, 40)),
                                   "-H", "-H with names only"});
  }
  if (!even)
    options.host_ranks = std::move(counts);
  else if (options.dims.empty())
    options.accelerators = all;
}

}  // namespace

void resolve_hosts(LaunchOptions& options) {
  if (options.hosts_option.empty()) return;
  if (!options.hosts.empty()) {
    throw Error(ErrorKind::usage,
                {"hosts are given twice", "HOSTS and -H", "-H " + quote_shell(options.hosts_option)});
  }
  const std::vector<HostWord> hosts = parse_host_words(options.hosts_option);
  for (const HostWord& host : hosts) options.hosts += (options.hosts.empty() ? "" : ",") + host.names;
  options.hosts_option.clear();
  if (!hosts[0].count.empty()) take_counts(hosts, options);
}

bool has_shape(const LaunchOptions& options) {
  return !(options.accelerators.empty() && options.nodes.empty() && options.racks.empty() &&
           options.aisles.empty());
}

topology::Dims settle_dims(const LaunchOptions& options, std::size_t hosts, std::uint32_t ranks) {
  if (!options.dims.empty() && has_shape(options)) {
    throw Error(ErrorKind::usage, {"DIMS and its factors are both given",
                                   "--ranks-per-host, --hosts-per-rack, --racks, --aisles",
                                   fmt::format("{} alone", printable(options.dims, 40))});
  }
  if (!options.dims.empty()) return topology::parse_dims(options.dims);
  topology::Dims dims;
  dims.gpus_per_node = shape_factor(options.accelerators, "--ranks-per-host", ranks);
  dims.racks = shape_factor(options.racks, "--racks", 1);
  dims.aisles = shape_factor(options.aisles, "--aisles", 1);
  const std::size_t groups = std::size_t{dims.racks} * dims.aisles;
  if (options.nodes.empty() && hosts % groups != 0) {
    throw Error(ErrorKind::request, {fmt::format("{} hosts do not fit evenly in {} racks x {} aisles", hosts,
                                                 dims.racks, dims.aisles),
                                     "--racks, --aisles", fmt::format("{} hosts, or other racks", groups)});
  }
  dims.nodes_per_rack =
      shape_factor(options.nodes, "--hosts-per-rack", static_cast<std::uint32_t>(hosts / groups));
  // The product in 64 bits and its limit are parse_dims' business.
  return topology::parse_dims(topology::render_dims(dims));
}

}  // namespace ddlrun::cli
