// SPDX-License-Identifier: MIT
#include "cli/launch_shape.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

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

// "h1:4" -> "h1" and "4".
std::pair<std::string, std::string> split_count(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos) return {std::string(word), ""};
  return {std::string(word.substr(0, colon)), std::string(word.substr(colon + 1))};
}

}  // namespace

void settle_hosts(LaunchOptions& options) {
  if (options.hosts_option.empty()) return;
  if (!options.hosts.empty()) {
    throw Error(ErrorKind::usage,
                {"hosts are given twice", "HOSTS and -H", "-H " + quote_shell(options.hosts_option)});
  }
  std::string count, names, first;
  for (const std::string_view word : split(options.hosts_option, ',')) {
    const auto [name, ranks] = split_count(word);
    names += (names.empty() ? "" : ",") + name;
    if (first.empty()) {
      first = name;
      count = ranks;
    } else if (ranks != count) {
      throw Error(
          ErrorKind::request,
          {fmt::format("{} has {} rank(s), {} has {}: one plan gives each host the same number", first,
                       count.empty() ? "no count of" : count, name, ranks.empty() ? "no count of" : ranks),
           "-H", fmt::format("-H {}:1,{}:1, or --rankfile FILE for unequal hosts", first, name)});
    }
  }
  options.hosts = names;
  options.hosts_option.clear();
  if (count.empty()) return;
  shape_factor(count, "-H", 1);
  if (!options.accelerators.empty() && options.accelerators != count) {
    throw Error(ErrorKind::usage, {fmt::format("-H says {} ranks for each host, --accelerators {}", count,
                                               printable(options.accelerators, 40)),
                                   "-H", "-H with names only"});
  }
  if (options.dims.empty()) options.accelerators = count;
}

bool has_shape(const LaunchOptions& options) {
  return !(options.accelerators.empty() && options.nodes.empty() && options.racks.empty() &&
           options.aisles.empty());
}

topology::Dims settle_dims(const LaunchOptions& options, std::size_t hosts, std::uint32_t ranks) {
  if (!options.dims.empty() && has_shape(options)) {
    throw Error(ErrorKind::usage,
                {"DIMS and its factors are both given", "--accelerators, --nodes, --racks, --aisles",
                 fmt::format("{} alone", printable(options.dims, 40))});
  }
  if (!options.dims.empty()) return topology::parse_dims(options.dims);
  topology::Dims dims;
  dims.gpus_per_node = shape_factor(options.accelerators, "--accelerators", ranks);
  dims.racks = shape_factor(options.racks, "--racks", 1);
  dims.aisles = shape_factor(options.aisles, "--aisles", 1);
  const std::size_t groups = std::size_t{dims.racks} * dims.aisles;
  if (options.nodes.empty() && hosts % groups != 0) {
    throw Error(ErrorKind::request, {fmt::format("{} hosts do not fit evenly in {} racks x {} aisles", hosts,
                                                 dims.racks, dims.aisles),
                                     "--racks, --aisles", fmt::format("{} hosts, or other racks", groups)});
  }
  dims.nodes_per_rack = shape_factor(options.nodes, "--nodes", static_cast<std::uint32_t>(hosts / groups));
  // The product in 64 bits and its limit are parse_dims' business.
  return topology::parse_dims(topology::render_dims(dims));
}

}  // namespace ddlrun::cli
