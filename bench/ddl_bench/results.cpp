// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/results.hpp"

#include "base/text/figures.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ddlrun::ddl_bench {
namespace {

std::string or_dash(const std::optional<double>& value, double factor, const char* unit = "") {
  return value ? render_three_digits(*value * factor) + unit : "-";
}

std::string size_text(std::size_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

const BackendResult* find_backend(const SizeResult& size, std::string_view name) {
  for (const BackendResult& backend : size.backends)
    if (backend.backend == name) return &backend;
  return nullptr;
}

// The largest size in words: the time of libddl, beside MPI and the limit.
std::string render_answer(const SizeResult& size) {
  const BackendResult* ddl = find_backend(size, "ddl");
  if (ddl == nullptr || ddl->best().times.least <= 0.0) return {};
  const double least = ddl->best().times.least;
  std::string text =
      fmt::format("# libddl sums {} in {} us", size_text(size.bytes), render_three_digits(least * 1e6));
  if (const BackendResult* mpi = find_backend(size, "mpi"); mpi != nullptr) {
    const double ratio = mpi->best().times.least / least;
    text += ratio >= 1.0 ? fmt::format(", {} times as fast as MPI_Allreduce", render_three_digits(ratio))
                         : fmt::format(", {:.0f} % of the speed of MPI_Allreduce", 100.0 * ratio);
  }
  if (ddl->limit)
    text +=
        fmt::format("; a plain pass over the same bytes takes {} us", render_three_digits(*ddl->limit * 1e6));
  return text + ".\n";
}

}  // namespace

std::optional<Times> times_of(std::vector<double> seconds) {
  if (seconds.empty()) return std::nullopt;
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median =
      seconds.size() % 2 == 1 ? seconds[middle] : 0.5 * (seconds[middle - 1] + seconds[middle]);
  return Times{seconds.front(), median, seconds.size()};
}

const CaseResult& BackendResult::best() const {
  return *std::min_element(cases.begin(), cases.end(),
                           [](auto& a, auto& b) { return a.times.least < b.times.least; });
}

std::size_t BackendResult::wrong() const {
  std::size_t all = 0;
  for (const CaseResult& bench_case : cases) all += bench_case.wrong;
  return all;
}

std::string short_mpi_version(std::string_view version) {
  std::string text;
  for (const std::string_view word : split_blanks(version.substr(0, version.find_first_of(",\n")))) {
    if (word == "for") break;  // "Intel(R) MPI Library 2021.18 for Linux* OS"
    if (word == "Version:") continue;
    const bool number = word.size() > 1 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9';
    text += (text.empty() ? "" : " ") + std::string(word.substr(number ? 1 : 0));
  }
  return text;
}

double alg_bandwidth(std::size_t bytes, double seconds) {
  return seconds > 0.0 ? static_cast<double>(bytes) / seconds / 1e9 : 0.0;
}

double bus_bandwidth(std::size_t bytes, double seconds, int ranks) {
  return alg_bandwidth(bytes, seconds) * 2.0 * (ranks - 1) / ranks;
}

std::optional<double> times_mpi(const SizeResult& size, const BackendResult& backend) {
  for (const BackendResult& other : size.backends)
    if (other.backend == "mpi" && backend.best().times.least > 0.0)
      return other.best().times.least / backend.best().times.least;
  return std::nullopt;
}

std::string render_table_head(const BenchFacts& facts) {
  std::string text = fmt::format(
      "# ddl-bench allreduce {}: {} on {} (dims {}), sum of {}\n"
      "# times: the slowest rank's, fastest turn and median; the ways take turns within each size, {:g} s "
      "each\n"
      "# MPI_Allreduce of {}, in or out of place, whichever is faster{}\n",
      facts.version, count_of(facts.ranks, "rank"), count_of(facts.hosts, "host"), facts.dims,
      ddl::name_of(facts.type), facts.seconds, facts.mpi,
      facts.gloo.empty() ? "" : "; " + facts.gloo + ", the fastest of its algorithms");
  text += fmt::format(
      "# pass: the time in which {} of a host read and write as many vectors{}, measured in the same turns;\n"
      "# of it: pass / fastest, over 100 % where a sum stays in caches\n",
      count_of(facts.local_ranks, "rank"),
      facts.link ? ", or their bytes pass between hosts, whichever is slower" : "");
  if (facts.link)
    text += fmt::format(
        "# link: {:.3g} MB/s one way, {:.3g} MB/s each way in both at once; {:.3g} x the bytes must pass "
        "it\n",
        facts.link->one_way / 1e6, facts.link->both_ways / 1e6, 2.0 * (facts.hosts - 1) / facts.hosts);
  for (const std::string& note : facts.notes) text += "# " + note + "\n";
  text += fmt::format("# {:>9} {:>10} {:>8}  {:<11} {:>9} {:>9} {:>7} {:>7} {:>5} {:>6} {:>9} {:>7}  {}\n",
                      "bytes", "count", "type", "backend", "fastest", "median", "algbw", "busbw", "wrong",
                      "x MPI", "pass", "of it", "how");
  text += fmt::format("# {:>9} {:>10} {:>8}  {:<11} {:>9} {:>9} {:>7} {:>7} {:>5} {:>6} {:>9} {:>7}\n", "(B)",
                      "", "", "", "(us)", "(us)", "(GB/s)", "(GB/s)", "", "", "(us)", "(%)");
  return text;
}

std::string render_table_rows(const BenchFacts& facts, const SizeResult& size) {
  std::string text;
  for (const BackendResult& backend : size.backends) {
    const CaseResult& best = backend.best();
    const double least = best.times.least;
    std::optional<double> part;
    if (backend.limit && least > 0.0) part = *backend.limit / least;
    text += fmt::format("{:>11} {:>10} {:>8}  {:<11} {:>9} {:>9} {:>7} {:>7} {:>5} {:>6} {:>9} {:>7}  {}\n",
                        size.bytes, size.count, ddl::name_of(facts.type), backend.backend,
                        render_three_digits(least * 1e6), render_three_digits(best.times.median * 1e6),
                        render_three_digits(alg_bandwidth(size.bytes, least)),
                        render_three_digits(bus_bandwidth(size.bytes, least, facts.ranks)), backend.wrong(),
                        or_dash(times_mpi(size, backend), 1.0), or_dash(backend.limit, 1e6),
                        part ? fmt::format("{:.0f}", 100.0 * *part) : "-", best.how);
  }
  return text;
}

std::string render_start(std::size_t sizes, std::size_t backends, double seconds) {
  return fmt::format("ddl-bench: {} by {}, about {:.0f} s\n", count_of(sizes, "size"),
                     count_of(backends, "backend"), std::ceil(seconds));
}

double seconds_of_calls(const SizeResult& size) {
  double seconds = 0.0;
  for (const BackendResult& backend : size.backends)
    for (const CaseResult& one : backend.cases) seconds += one.times.median;
  return seconds;
}

double find_seconds_per_byte(const BenchFacts& facts, const SizeResult& size) {
  constexpr double memory_rate = 1e9;  // bytes a second: what a slow host adds up
  std::size_t cases = 0;
  for (const BackendResult& backend : size.backends) cases += backend.cases.size();
  double each = facts.local_ranks / memory_rate;
  if (facts.link) each += 2.0 / std::max(facts.link->both_ways, 1.0);  // every byte leaves and comes back
  return static_cast<double>(cases) * each;
}

double estimate_seconds(std::span<const std::size_t> sizes, double seconds_each,
                        std::span<const MeasuredSize> done, double seconds_per_byte) {
  constexpr double least_calls = 9.0;  // four to calibrate, five turns
  const auto planned = [&](double calls) { return std::max(seconds_each, least_calls * calls); };
  const auto calls_for = [&](std::size_t bytes) {
    const MeasuredSize& last = done.back();
    if (done.size() < 2) {
      if (least_calls * last.calls <= seconds_each) return last.calls;
      const double more = static_cast<double>(bytes) - static_cast<double>(last.bytes);
      return last.calls + std::min(last.calls / static_cast<double>(last.bytes), seconds_per_byte) * more;
    }
    const MeasuredSize& before = done[done.size() - 2];
    if (before.bytes == last.bytes) return last.calls;
    const double per_byte =
        (last.calls - before.calls) / (static_cast<double>(last.bytes) - static_cast<double>(before.bytes));
    return last.calls +
           std::max(per_byte, 0.0) * (static_cast<double>(bytes) - static_cast<double>(last.bytes));
  };
  // A busy machine, and what a size does beside its calls.
  const double slowness =
      done.empty() ? 1.0 : std::max(done.back().seconds / planned(done.back().calls), 1.0);
  double left = 0.0;
  for (const std::size_t bytes : sizes.subspan(done.size()))
    left += slowness * planned(done.empty() ? 0.0 : calls_for(bytes));
  return left;
}

std::string render_table_foot(const BenchFacts& facts, const std::vector<SizeResult>& sizes) {
  std::size_t wrong = 0;
  for (const SizeResult& size : sizes)
    for (const BackendResult& backend : size.backends) wrong += backend.wrong();
  std::string text = wrong == 0 ? "# all elements right\n" : fmt::format("# {} ELEMENTS WRONG\n", wrong);
  if (!sizes.empty()) text += render_answer(sizes.back());
  if (facts.hosts > 1)
    text += "# Open MPI's own hierarchical sum beside it: the same with mpirun --mca coll_han_priority 100\n";
  return text;
}

}  // namespace ddlrun::ddl_bench
