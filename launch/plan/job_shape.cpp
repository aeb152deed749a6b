// SPDX-License-Identifier: MIT
#include "launch/plan/job_shape.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace ddlrun::launch {

namespace {

std::optional<std::uint32_t> shape_factor(const std::string& text, const char* option) {
  if (text.empty()) return std::nullopt;
  const auto number = parse_unsigned(text, topology::max_ranks);
  if (!number || *number == 0) {
    throw Error(ErrorKind::usage,
                {fmt::format("{} must be a number from 1 to {}, not '{}'", option, topology::max_ranks,
                             printable(text, 40)),
                 option, std::string_view(option) == "-H" ? "-H h1:4,h2:4" : fmt::format("{} 4", option)});
  }
  return static_cast<std::uint32_t>(*number);
}

// Splits at commas outside brackets: "n[1,3]:4,h2:2" is two words.
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
  for (const std::string_view typed : split_words(text)) {
    const std::string_view word = trim(typed);  // "h1:2, h2:2"
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

std::vector<std::uint32_t> host_counts(const std::vector<HostWord>& hosts) {
  std::vector<std::uint32_t> counts;
  for (const HostWord& host : hosts) {
    const std::uint32_t count = *shape_factor(host.count, "-H");
    counts.insert(counts.end(), expand_host_list(host.names).size(), count);
  }
  return counts;
}

bool has_tasks(const LaunchFlags& flags) {
  return !flags.framework.ps.empty() || !flags.framework.workers.empty();
}

// The counts of -H h1:4,h2:2: equal ones are the ranks per host, except of tasks, which have no dims.
void take_counts(const LaunchFlags& flags, const std::vector<std::uint32_t>& counts, JobShape& shape) {
  if (counts.empty()) return;
  const bool even = std::all_of(counts.begin(), counts.end(), [&](auto count) { return count == counts[0]; });
  const bool has_factors = shape.ranks_per_host || shape.hosts_per_rack || shape.racks || shape.aisles;
  if (!even && (shape.dims || has_factors)) {
    throw Error(ErrorKind::usage, {"-H gives the hosts different numbers of ranks, DIMS the same number",
                                   "-H and DIMS", "one of the two"});
  }
  if (even && shape.ranks_per_host && *shape.ranks_per_host != counts[0]) {
    throw Error(ErrorKind::usage, {fmt::format("-H gives {} ranks per host, --ranks-per-host {}", counts[0],
                                               printable(flags.ranks_per_host, 40)),
                                   "-H", "-H with names only"});
  }
  if (!even || (has_tasks(flags) && !shape.dims))
    shape.host_ranks = counts;
  else if (!shape.dims)
    shape.ranks_per_host = counts[0];
}

// "h1:2,h2:1"
std::string render_counts(const std::vector<std::string>& hosts, const std::vector<std::uint32_t>& counts) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", hosts[i], counts[i]);
  return printable(text, 300);
}

// HorovodRunner's np: -n is n ranks on this host, n is n ranks over all hosts.
void take_np(const LaunchFlags& flags, const HostWords& words, JobShape& shape) {
  const std::string& np = flags.framework.np;
  if (np.empty()) return;
  const bool local = np.starts_with('-');
  const auto number = parse_unsigned(std::string_view(np).substr(local ? 1 : 0), topology::max_ranks);
  if (!number || *number == 0) {
    throw Error(ErrorKind::usage, {fmt::format("'{}' is not a number of ranks", printable(np, 40)), "--np",
                                   "--np 8, or --np -4 for 4 ranks on this host"});
  }
  // horovodrun's -np 4 -H a:2,b:2: twice the same.
  const std::uint64_t sum = std::accumulate(words.counts.begin(), words.counts.end(), std::uint64_t{0});
  const bool has_slots = !local && !words.counts.empty() && words.dims.empty();
  if (has_slots && sum == *number) return;
  if (has_slots && *number < sum) {  // of a rankfile, which -n does not change
    throw Error(ErrorKind::usage, {fmt::format("{} ranks, and -H has room for {}", *number, sum), "--np",
                                   "-H with names only"});
  }
  const bool counted = shape.has_ranks_per_host() || !shape.host_ranks.empty();
  if (counted || has_tasks(flags)) {
    throw Error(ErrorKind::usage,
                {fmt::format("--np conflicts with {}", has_tasks(flags)        ? "--ps, --workers"
                                                       : !flags.dims.empty()   ? "DIMS"
                                                       : !words.counts.empty() ? "the counts of -H"
                                                                               : "--ranks-per-host"),
                 "--np", "one of the two"});
  }
  if (!local) {
    shape.total_ranks = static_cast<std::uint32_t>(*number);
    return;
  }
  if (!words.hosts.empty() || !flags.hostfile.empty()) {
    throw Error(ErrorKind::usage,
                {fmt::format("--np {} starts {} ranks on this host, but hosts are named", np, *number),
                 "--np", fmt::format("--np {}", *number)});
  }
  shape.local_ranks = static_cast<std::uint32_t>(*number);
  shape.dims = topology::Dims{shape.local_ranks, 1, 1, 1};
}

// "h1,h2", "node[1-4]", "@FILE" or "10.0.0.1" where DIMS are expected; "4x" and "4*2" are wrong DIMS.
bool names_hosts(std::string_view word) {
  if (word.empty() || topology::is_dims_word(word)) return false;
  const auto first = static_cast<unsigned char>(word[0]);
  return first == '@' || std::isalpha(first) != 0 || std::ranges::count(word, '.') >= 3;
}

// "train.py", "./run.sh", "bin/prog"
bool names_file(std::string_view word) {
  return !word.starts_with('@') &&
         (word.ends_with(".py") || word.ends_with(".sh") || word.find('/') != word.npos);
}

// "node1:2,node2:1", which only -H takes.
bool has_counts(std::string_view word) {
  const std::size_t colon = word.find(':');
  return colon != word.npos && colon > 0 && word.find("::") == word.npos && word.find('[') == word.npos &&
         colon + 1 < word.size() && std::isdigit(static_cast<unsigned char>(word[colon + 1])) != 0;
}

}  // namespace

HostWords resolve_host_words(const LaunchFlags& flags) {
  HostWords words{flags.dims, flags.hosts, {}};
  for (const std::string& word : {words.dims, words.hosts})
    if (flags.hosts_option.empty() && names_hosts(word) && has_counts(word))
      throw Error(ErrorKind::usage, {fmt::format("'{}': ranks per host are for -H", printable(word, 60)),
                                     "HOSTS", "-H " + quote_shell(word)});
  if (!flags.hosts_option.empty()) {
    if (words.hosts.empty() && names_file(words.dims))
      throw Error(ErrorKind::usage,
                  {fmt::format("'{}' is a program: programs follow --", printable(words.dims, 60)), "-H",
                   fmt::format("-H {} -- {}{}", quote_shell(flags.hosts_option),
                               words.dims.ends_with(".py") ? "python3 " : "", quote_shell(words.dims))});
    if (words.hosts.empty() && names_hosts(words.dims)) {
      throw Error(ErrorKind::usage, {fmt::format("'{}' is a host beside -H", printable(words.dims, 60)), "-H",
                                     "-H " + quote_shell(flags.hosts_option + "," + words.dims)});
    }
    if (!words.hosts.empty()) {
      throw Error(ErrorKind::usage,
                  {"hosts are given twice", "HOSTS and -H", "-H " + quote_shell(flags.hosts_option)});
    }
    const std::vector<HostWord> hosts = parse_host_words(flags.hosts_option);
    for (const HostWord& host : hosts) words.hosts += (words.hosts.empty() ? "" : ",") + host.names;
    if (!hosts[0].count.empty()) words.counts = host_counts(hosts);
  }
  const bool hosts_are_dims = !words.hosts.empty() && topology::is_dims_word(words.hosts);
  if (names_hosts(words.dims) && (words.hosts.empty() || hosts_are_dims)) std::swap(words.dims, words.hosts);
  return words;
}

std::vector<std::uint32_t> counts_of_slots(const LaunchFlags& flags, const HostWords& words,
                                           const std::vector<std::string>& hosts,
                                           const std::vector<std::uint32_t>& slots) {
  const std::string& np = flags.framework.np;
  const bool has_factor = !flags.ranks_per_host.empty() || !flags.hosts_per_rack.empty() ||
                          !flags.racks.empty() || !flags.aisles.empty();
  if (slots.empty() || np.starts_with('-') || !words.dims.empty() || has_factor || !flags.rankfile.empty())
    return {};
  if (const auto none = std::ranges::find(slots, 0U); none != slots.end()) {
    const std::string& host = hosts.at(static_cast<std::size_t>(none - slots.begin()));
    throw Error(ErrorKind::usage,
                {fmt::format("the hostfile gives slots for some hosts, but not for {}", host), "--hostfile",
                 host + " slots=N, or the slots of no host"});
  }
  const std::uint64_t sum = std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
  const auto ranks = parse_unsigned(np, topology::max_ranks);
  if (!ranks || *ranks <= sum || has_tasks(flags)) return slots;
  if (flags.plan.oversubscribe) return {};
  throw Error(ErrorKind::usage, {fmt::format("{} ranks, and the hostfile has {} slots", *ranks, sum), "-n",
                                 fmt::format("-n {}, the sum of the slots; or --oversubscribe", sum)});
}

std::string fill_slots(const LaunchFlags& flags, std::vector<std::string>& hosts, HostWords& words) {
  auto& counts = words.counts;
  const auto ranks = parse_unsigned(flags.framework.np, topology::max_ranks);
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (!ranks || *ranks == 0 || *ranks >= sum || counts.size() != hosts.size() || !words.dims.empty() ||
      !flags.rankfile.empty())
    return {};
  std::uint64_t left = *ranks;
  std::size_t used = 0;
  for (; left > 0; ++used) {
    counts[used] = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, counts[used]));
    left -= counts[used];
  }
  const auto unused_from = hosts.begin() + static_cast<std::ptrdiff_t>(used);
  const std::vector<std::string> unused(unused_from, hosts.end());
  hosts.erase(unused_from, hosts.end());
  counts.resize(used);
  return fmt::format("-n {} of {} slots fills the hosts in their order, as mpirun does: {}{}{}", *ranks, sum,
                     render_counts(hosts, counts),
                     unused.empty() ? "" : "; without ranks: ", printable(fold_host_list(unused), 200));
}

JobShape resolve_shape(const LaunchFlags& flags, const HostWords& words) {
  JobShape shape;
  shape.ranks_per_host = shape_factor(flags.ranks_per_host, "--ranks-per-host");
  shape.hosts_per_rack = shape_factor(flags.hosts_per_rack, "--hosts-per-rack");
  shape.racks = shape_factor(flags.racks, "--racks");
  shape.aisles = shape_factor(flags.aisles, "--aisles");
  if (!words.dims.empty()) {
    if (shape.ranks_per_host || shape.hosts_per_rack || shape.racks || shape.aisles) {
      throw Error(ErrorKind::usage, {"DIMS and its factors are both given",
                                     "--ranks-per-host, --hosts-per-rack, --racks, --aisles",
                                     fmt::format("{} alone", printable(words.dims, 40))});
    }
    shape.dims = topology::parse_dims(words.dims);
  }
  take_counts(flags, words.counts, shape);
  take_np(flags, words, shape);
  shape.rankfile = flags.rankfile;
  return shape;
}

topology::Dims resolve_dims(const JobShape& shape, std::size_t hosts, std::uint32_t default_ranks) {
  if (shape.dims) return *shape.dims;
  topology::Dims dims;
  dims.gpus_per_node = shape.ranks_per_host.value_or(default_ranks);
  dims.racks = shape.racks.value_or(1);
  dims.aisles = shape.aisles.value_or(1);
  const std::size_t groups = std::size_t{dims.racks} * dims.aisles;
  if (!shape.hosts_per_rack && hosts % groups != 0) {
    throw Error(ErrorKind::request, {fmt::format("{} hosts do not fit evenly into {} racks x {} aisles",
                                                 hosts, dims.racks, dims.aisles),
                                     "--racks, --aisles", fmt::format("{} hosts, or other racks", groups)});
  }
  dims.nodes_per_rack = shape.hosts_per_rack.value_or(static_cast<std::uint32_t>(hosts / groups));
  // parse_dims checks the limit of the product, in 64 bits.
  return topology::parse_dims(topology::render_dims(dims));
}

}  // namespace ddlrun::launch
