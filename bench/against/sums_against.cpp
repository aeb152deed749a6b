// SPDX-License-Identifier: MIT
#include "bench/against/sums_against.hpp"

#include "base/text/figures.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace ddlrun::bench_against {
namespace {

constexpr const char* own_backends[] = {"ddl", "ddl-private"};

std::optional<double> time_of(const SumsOfRun& run, std::size_t bytes, const std::string& backend) {
  const auto size = run.sizes.find(bytes);
  if (size == run.sizes.end()) return std::nullopt;
  const auto found = size->second.find(backend);
  return found == size->second.end() || found->second <= 0.0 ? std::nullopt : std::optional(found->second);
}

bool is_own(const std::string& backend) { return backend.starts_with("ddl"); }

// The fastest peer of all runs over `backend` in the same run.
std::optional<double> times_best_peer(const std::vector<SumsOfRun>& runs, std::size_t bytes,
                                      const std::string& backend) {
  std::optional<double> least;
  for (const SumsOfRun& run : runs) {
    const std::optional<double> own = time_of(run, bytes, backend);
    if (!own) continue;
    for (const auto& [peer, seconds] : run.sizes.at(bytes))
      if (!is_own(peer) && (!least || seconds / *own < *least)) least = seconds / *own;
  }
  return least;
}

std::optional<double> fastest(const std::vector<SumsOfRun>& runs, std::size_t bytes,
                              const std::string& backend) {
  std::optional<double> least;
  for (const SumsOfRun& run : runs) {
    const std::optional<double> seconds = time_of(run, bytes, backend);
    if (seconds && (!least || *seconds < *least)) least = seconds;
  }
  return least;
}

std::string cell(const std::optional<double>& value, double factor) {
  return value ? render_three_digits(*value * factor) : "-";
}

std::set<std::size_t> all_sizes(const std::vector<SumsOfRun>& runs) {
  std::set<std::size_t> sizes;
  for (const SumsOfRun& run : runs)
    for (const auto& [bytes, times] : run.sizes) sizes.insert(bytes);
  return sizes;
}

struct Column {
  std::string title;
  std::size_t width = 9;
};

// "gloo", "oneccl": what is no MPI and not libddl's.
std::set<std::string> other_peers(const std::vector<SumsOfRun>& runs) {
  std::set<std::string> names;
  for (const SumsOfRun& run : runs)
    for (const auto& [bytes, times] : run.sizes)
      for (const auto& [backend, seconds] : times)
        if (!is_own(backend) && backend != "mpi") names.insert(backend);
  return names;
}

std::vector<Column> columns(const std::vector<SumsOfRun>& runs) {
  std::vector<Column> all = {{"bytes", 11}, {"ddl"}, {"private", 9}};
  for (const SumsOfRun& run : runs) all.push_back({run.mpi, std::max<std::size_t>(9, run.mpi.size())});
  for (const std::string& peer : other_peers(runs)) all.push_back({peer});
  all.push_back({"x best"});
  all.push_back({"private x", 9});
  return all;
}

std::string answer(const std::vector<SumsOfRun>& runs, const std::string& backend, const std::string& name) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  std::size_t slowest = 0;
  for (const std::size_t bytes : all_sizes(runs)) {
    const std::optional<double> times = times_best_peer(runs, bytes, backend);
    if (!times) continue;
    most = std::max(most, *times);
    if (*times < least) slowest = bytes;
    least = std::min(least, *times);
  }
  if (most == 0.0) return {};
  const std::string range = fmt::format("{} to {} times as fast as the fastest peer",
                                        render_three_digits(least), render_three_digits(most));
  return least >= 1.0 ? fmt::format("# {}: {}, at all sizes.\n", name, range)
                      : fmt::format("# {}: {}; slower at {} bytes.\n", name, range, slowest);
}

}  // namespace

void keep_fastest(SumsOfRun& of, const SumsOfRun& again) {
  of.wrong += again.wrong;
  of.documents.insert(of.documents.end(), again.documents.begin(), again.documents.end());
  for (const auto& [bytes, times] : again.sizes)
    for (const auto& [backend, seconds] : times) {
      const auto [place, is_new] = of.sizes[bytes].try_emplace(backend, seconds);
      if (!is_new) place->second = std::min(place->second, seconds);
    }
}

std::string render_against_table(const std::vector<SumsOfRun>& runs, const std::vector<std::string>& notes) {
  const SumsOfRun& first = runs.front();
  std::string text = fmt::format(
      "# {} on {}, sum of {}; us of the fastest turn on the slowest rank\n"
      "# a run for each MPI, libddl in turns with it; x best, private x: the fastest peer over libddl in "
      "the\n"
      "# same run, on memory of Context::allocate and on any memory (private)\n",
      count_of(static_cast<std::size_t>(first.ranks), "rank"),
      count_of(static_cast<std::size_t>(first.hosts), "host"), first.type);
  for (const std::string& note : notes) text += "# " + note + "\n";
  const std::vector<Column> heads = columns(runs);
  text += "#";
  for (std::size_t i = 0; i < heads.size(); ++i)
    text += fmt::format("{:>{}}", heads[i].title, heads[i].width + (i == 0 ? 0 : 2) - (i == 0 ? 1 : 0));
  text += "\n";
  std::size_t wrong = 0;
  for (const SumsOfRun& run : runs) wrong += run.wrong;
  for (const std::size_t bytes : all_sizes(runs)) {
    std::vector<std::string> cells = {fmt::format("{}", bytes)};
    for (const char* own : own_backends) cells.push_back(cell(fastest(runs, bytes, own), 1e6));
    for (const SumsOfRun& run : runs) cells.push_back(cell(time_of(run, bytes, "mpi"), 1e6));
    for (const std::string& peer : other_peers(runs)) cells.push_back(cell(fastest(runs, bytes, peer), 1e6));
    for (const char* own : own_backends) cells.push_back(cell(times_best_peer(runs, bytes, own), 1.0));
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += fmt::format("{:>{}}", cells[i], heads[i].width + (i == 0 ? 0 : 2));
    text += "\n";
  }
  text += wrong == 0 ? "# all elements right\n" : fmt::format("# {} ELEMENTS WRONG\n", wrong);
  return text + answer(runs, "ddl", "libddl") + answer(runs, "ddl-private", "libddl on any memory");
}

}  // namespace ddlrun::bench_against
