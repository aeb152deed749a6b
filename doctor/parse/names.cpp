// SPDX-License-Identifier: MIT
#include "doctor/parse/names.hpp"

#include "base/text/ip_address.hpp"
#include "base/text/text.hpp"
#include "doctor/parse/cidr.hpp"
#include "topology/rankfile/rankfile_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace ddlrun::doctor {

namespace {

constexpr std::string_view bad_host_words =
    "claimed that a host was either not allocated or oversubscribed its slots";
constexpr std::string_view all_filled_words =
    "All nodes which are allocated for this job are already filled.";

bool is_among(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Without "user@", and cut at the first dot unless names are kept whole or are addresses.
std::string cut_name(const LaunchNames& names, std::string_view name) {
  if (!names.keep_fqdn) return std::string(rankfile::folded_name(name));
  const auto at = name.rfind('@');
  return std::string(at == std::string_view::npos ? name : name.substr(at + 1));
}

// The name of the node in mpirun's own list: all names of the launching host are one.
std::string node_name(const LaunchNames& names, std::string_view name) {
  std::string cut = cut_name(names, name);
  return is_launching_host(names, cut) ? cut_name(names, names.own_name) : cut;
}

// Before any rank is mapped, mpirun starts a daemon by ssh on each other node that is left.
Prediction predict_start(const LaunchNames& names, const std::vector<std::string>& nodes) {
  const std::string own = cut_name(names, names.own_name);
  for (const std::string& node : nodes) {
    if (node != own && node.find('_') != std::string::npos)
      return {Outcome::illegal_name, node, "presence of an illegal character in the following node name"};
  }
  for (const std::string& node : nodes) {
    const auto row = names.resolved.find(node);
    if (node != own && row != names.resolved.end() && row->second.addresses.empty())
      return {Outcome::unresolved, node, fmt::format("ssh: Could not resolve hostname {}", node)};
  }
  return {};
}

// Without a scheduler the rankfile is the list of nodes; hostfile and -H only strike names out of it. Both
// are folded: each name of the launching host becomes its host name.
Prediction predict_unmanaged(const LaunchNames& names) {
  std::vector<std::string> wanted, left;
  for (const std::string& name : names.rankfile) {
    if (rankfile::is_relative_name(name))
      return {Outcome::no_allocation, name, "A relative host was specified, but no prior allocation"};
    wanted.push_back(node_name(names, name));
  }
  std::unordered_set<std::string> allowed;
  for (const std::string& name : names.allocation) allowed.insert(node_name(names, name));
  const auto is_allowed = [&](const std::string& node) { return allowed.empty() || allowed.contains(node); };
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(left), is_allowed);
  if (left.empty()) return {Outcome::all_filled, "", std::string(all_filled_words)};
  const Prediction start = predict_start(names, left);
  if (start.outcome != Outcome::runs) return start;
  const auto missing = std::find_if_not(wanted.begin(), wanted.end(), is_allowed);
  if (missing != wanted.end()) return {Outcome::bad_host, *missing, std::string(bad_host_words)};
  return {};
}

Prediction bad_index(const std::string& name) {
  return {
      Outcome::bad_index, name,
      fmt::format("Rankfile claimed host {} by index that is bigger than number of allocated hosts", name)};
}

// In a scheduler's allocation its names are the nodes: only they, localhost and +nN are known.
Prediction predict_managed(const LaunchNames& names) {
  std::vector<std::string> nodes;
  for (const std::string& name : names.allocation) nodes.push_back(cut_name(names, name));
  for (const std::string& name : names.rankfile) {
    if (rankfile::is_relative_name(name)) {
      const auto index = parse_unsigned(std::string_view(name).substr(2));
      if (index && *index < nodes.size()) continue;
      return bad_index(name);
    }
    const std::string node = cut_name(names, name);
    if (is_among(nodes, node)) continue;
    if (node == "localhost" && is_among(nodes, cut_name(names, names.own_name))) continue;
    return {Outcome::bad_host, node, std::string(bad_host_words)};
  }
  return {};
}

// PRRTE 3.0.8 (Open MPI 5.0.7), src/mca/rmaps/rank_file: the allocation is the list of nodes, without one
// this host alone. A node is called what its daemon calls itself. A name is resolved only by ssh.
Prediction predict_prrte(const LaunchNames& names) {
  const std::string own = cut_name(names, names.own_name);
  const auto is_here = [&](const std::string& name) {
    return name == own || name == names.own_name || name == "localhost" || name == "127.0.0.1" ||
           is_among(names.own_addresses, name);
  };
  std::vector<std::string> nodes;
  if (names.allocation.empty()) nodes.push_back(own);
  for (const std::string& name : names.allocation) {
    const std::string cut = cut_name(names, name);
    if (is_here(cut)) {
      nodes.push_back(own);
      continue;
    }
    const std::string full = name.substr(name.rfind('@') + 1);  // npos + 1 == 0
    const auto row = names.resolved.find(full);
    if (!names.managed && row != names.resolved.end() && row->second.addresses.empty())
      return {Outcome::unresolved, full, fmt::format("ssh: Could not resolve hostname {}", full)};
    const auto called = names.host_names.find(name);
    nodes.push_back(called == names.host_names.end() ? cut : cut_name(names, called->second));
  }
  for (const std::string& name : names.rankfile) {
    if (rankfile::is_relative_name(name)) {
      const auto index = parse_unsigned(std::string_view(name).substr(2));
      if (!index || *index >= nodes.size()) return bad_index(name);
      continue;
    }
    std::string node = cut_name(names, name);
    if (is_here(node)) node = own;
    if (!is_among(nodes, node)) return {Outcome::bad_host, node, std::string(bad_host_words)};
  }
  return {};
}

}  // namespace

std::string render_name_row(const NameRow& row) {
  if (row.addresses.empty()) return fmt::format("{} ! {}", row.name, row.problem);
  return fmt::format("{} {}", row.name, join(row.addresses, ","));
}

std::optional<NameRow> parse_name_row(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == 0 || blank == std::string_view::npos) return std::nullopt;
  NameRow row;
  row.name = text.substr(0, blank);
  const std::string_view rest = text.substr(blank + 1);
  if (rest.starts_with("! ")) {
    row.problem = rest.substr(2);
    return row;
  }
  for (const std::string_view address : split(rest, ',')) {
    if (!is_ip_address(address)) return std::nullopt;
    row.addresses.emplace_back(address);
  }
  return row;
}

NameTable read_name_table(const Facts& facts) {
  NameTable table;
  for (const std::string_view line : facts.list("name.table")) {
    if (auto row = parse_name_row(line)) table.insert_or_assign(row->name, *row);
  }
  return table;
}

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::runs:
      return "runs";
    case Outcome::bad_host:
      return "bad-host";
    case Outcome::all_filled:
      return "all-filled";
    case Outcome::unresolved:
      return "unresolved";
    case Outcome::illegal_name:
      return "illegal-name";
    case Outcome::no_allocation:
      return "no-allocation";
    case Outcome::bad_index:
      return "bad-index";
  }
  return "runs";
}

bool is_launching_host(const LaunchNames& names, std::string_view name) {
  if (name == "localhost" || name == cut_name(names, names.own_name)) return true;
  if (is_among(names.own_addresses, name)) return true;
  const auto row = names.resolved.find(name);
  if (row == names.resolved.end()) return false;
  const auto is_own = [&](const std::string& address) {  // Open MPI looks at IPv4 only
    return parse_ipv4(address).has_value() && is_among(names.own_addresses, address);
  };
  return std::any_of(row->second.addresses.begin(), row->second.addresses.end(), is_own);
}

Prediction predict_mpirun(const LaunchNames& names) {
  if (names.rankfile.empty()) return {};
  if (names.mpi_major >= 5) return predict_prrte(names);
  return names.managed ? predict_managed(names) : predict_unmanaged(names);
}

}  // namespace ddlrun::doctor
