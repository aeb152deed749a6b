// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/bench_command.hpp"

#include "base/text/completion.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "bench/ddl_bench/bench_options.hpp"
#include "bench/ddl_bench/ddl_backends.hpp"
#include "bench/ddl_bench/gloo_backend.hpp"
#include "bench/ddl_bench/measure.hpp"
#include "bench/ddl_bench/nccl_backend.hpp"
#include "bench/ddl_bench/oneccl_backend.hpp"
#include "bench/ddl_bench/run_with_mpi.hpp"
#include "ddl/core/clock.hpp"
#include "ddl/launcher.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ddlrun::ddl_bench {
namespace {

constexpr double corrected_from = 1.3;  // times the time that the last line promised

using ContextPointer = std::shared_ptr<ddl::Context>;

// DDL_OPTIONS holds the dims that ddlrun planned; its mode is not for the backends, which have their own.
ddl::Options take_ddl_options() {
  ddl::Options options;
  const char* text = std::getenv("DDL_OPTIONS");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (text != nullptr) options.dims = ddl::parse_options(text).dims;
  ::unsetenv("DDL_OPTIONS");  // NOLINT(concurrency-mt-unsafe): before any thread
  return options;
}

bool han_is_on() {
  const char* priority = std::getenv("OMPI_MCA_coll_han_priority");  // NOLINT(concurrency-mt-unsafe)
  return priority != nullptr && parse_unsigned(priority).value_or(0) > 0;
}

ContextPointer make_context(const ddl::Options& options) {
  int argc = 0;
  char** argv = nullptr;
  return std::make_shared<ddl::Context>(argc, argv, options);
}

struct Bench {
  const BenchOptions& options;
  World& world;
  const MpiModule& mpi;
  ddl::Options base;
  ContextPointer main;
  std::vector<Backend> backends;
  BenchFacts facts;

  bool by_name(const std::string& backend) const { return options.names(backend); }
  bool wants(const std::string& backend) const { return options.backends.empty() || by_name(backend); }
  bool note(const std::string& text) {
    facts.notes.push_back(text);
    return false;
  }
};

void add_ddl_backends(Bench& bench) {
  const ddl::DataType type = bench.options.type;
  const bool many_hosts = bench.main->hosts() > 1;
  if (bench.wants("ddl"))
    bench.backends.push_back(ddl_backend("ddl", bench.main, type, true, Roofline::sums));
  if (bench.wants("ddl-private"))
    bench.backends.push_back(ddl_backend("ddl-private", bench.main, type, false, Roofline::sums));
  if (bench.wants("ddl-bf16") && many_hosts && type == ddl::DataType::float32) {
    ddl::Options options = bench.base;
    options.wire = ddl::DataType::bfloat16;
    bench.backends.push_back(
        ddl_backend("ddl-bf16", make_context(options), type, true, Roofline::half_on_wire));
  } else if (bench.by_name("ddl-bf16")) {
    bench.note("no ddl-bf16: it is for float32 between hosts");
  }
  if (bench.wants("ddl-ring") && many_hosts) {
    ddl::Options options = bench.base;
    options.mode = ddl::Mode::ring;
    bench.backends.push_back(ddl_backend("ddl-ring", make_context(options), type, true, Roofline::sums));
  } else if (bench.by_name("ddl-ring")) {
    bench.note("no ddl-ring: on one host it is ddl");
  }
}

void add_update_backends(Bench& bench) {
  const bool update = bench.options.one_copy || bench.by_name("ddl-update");
  const bool each = bench.options.one_copy || bench.by_name("ddl-each");
  if (!update && !each) return;
  if (bench.options.type != ddl::DataType::float32) {
    bench.note("no ddl-update, no ddl-each: they are for float32");
    return;
  }
  if (update) bench.backends.push_back(ddl_update_backend(bench.main));
  if (each) bench.backends.push_back(ddl_each_backend(bench.main));
}

void add_other_backends(Bench& bench) {
  if (bench.wants("mpi")) {
    const MpiAllReduce mpi = bench.mpi.all_reduce(bench.options.type, !han_is_on());
    if (mpi.backend) bench.backends.push_back(*mpi.backend);
    if (!mpi.backend) bench.note("no MPI_Allreduce: " + mpi.obstacle);
    if (han_is_on())
      bench.note("MPI_Allreduce by HAN, out of place only: in place it crashes in Open MPI 4.1.4");
  }
  if (bench.wants("gloo")) {
    GlooBackend gloo =
        connect_gloo(bench.world, bench.options.type, bench.main->hosts() == 1, bench.options.gloo_interface);
    if (gloo.backend) {
      bench.backends.push_back(*gloo.backend);
      bench.facts.gloo = gloo.what;
    } else {
      bench.note(gloo.what);
    }
  }
  if (bench.by_name("oneccl")) {
    OneCclBackend oneccl = connect_oneccl(bench.world, bench.options.type);
    if (oneccl.backend) bench.backends.push_back(std::move(*oneccl.backend));
    bench.note(oneccl.what);
  }
  if (bench.wants("nccl")) {
    const NcclBackend nccl =
        connect_nccl(bench.world, bench.main->local_rank(), bench.base, bench.options.type);
    if (nccl.backend) bench.backends.push_back(*nccl.backend);
    bench.note(nccl.what);
  }
}

LinkPlace link_place(const ddl::Context& main) {
  return {main.host(), main.hosts(), main.local_rank(), main.local_size()};
}

void gather_facts(Bench& bench) {
  const ddl::Context& main = *bench.main;
  BenchFacts& facts = bench.facts;
  facts.version = DDLRUN_VERSION;
  facts.ranks = main.size();
  facts.hosts = main.hosts();
  facts.local_ranks = main.local_size();
  facts.dims = main.dims();
  facts.type = bench.options.type;
  facts.seconds = bench.options.seconds;
  facts.mpi = short_mpi_version(bench.mpi.version());
  if (facts.hosts > 1) facts.link = bench.mpi.measure_link(link_place(main));
}

void print_now(const std::string& text) {
  fmt::print("{}", text);
  if (std::fflush(stdout) == 0) return;
  throw Error(ErrorKind::request,
              {"the table could not be written", "stdout", "ddl-bench allreduce > FILE on a disk with room"});
}

bool goes_to_file(const std::string& json) { return !json.empty() && json != "-"; }

// Whether it can be written, before the work; what stands there stays.
std::string find_obstacle(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) return std::strerror(errno);
  std::fclose(file);
  return "";
}

void write_json(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr && std::fclose(file) == 0 && written) return;
  throw Error(ErrorKind::request, {"the JSON document could not be written", "--json " + printable(path),
                                   "--json FILE in a directory that you may write to"});
}

int measure_all(const BenchOptions& options, World& world, const MpiModule& mpi) {
  Bench bench{options, world, mpi, take_ddl_options(), nullptr, {}, {}};
  bench.main = make_context(bench.base);
  add_ddl_backends(bench);
  add_update_backends(bench);
  add_other_backends(bench);
  if (bench.backends.empty()) {
    const Message message{"no backend is left to measure",
                          bench.facts.notes.empty() ? "--backends" : bench.facts.notes[0],
                          "--backends ddl,mpi"};
    return refuse_on_all(world, exit_code(ErrorKind::request), render_error("ddl-bench", message));
  }
  const bool first = world.rank() == 0;
  const std::string obstacle =
      world.gather(first && goes_to_file(options.json) ? find_obstacle(options.json) : "").front();
  if (!obstacle.empty())
    return refuse_on_all(world, exit_code(ErrorKind::request),
                         render_error("ddl-bench", {"the JSON document cannot be written: " + obstacle,
                                                    "--json " + printable(options.json),
                                                    "--json FILE in a directory that you may write to"}));
  gather_facts(bench);
  const BenchFacts& facts = bench.facts;
  const bool table = first && options.json != "-";
  MeasurePlan plan{options.seconds, options.check, options.type, facts.local_ranks, {}, ddl::steady_seconds};
  if (facts.hosts > 1)
    plan.make_link = [&mpi, place = link_place(*bench.main)](std::size_t bytes) {
      return mpi.make_link_cases(place, bytes);
    };
  if (table) print_now(render_table_head(facts));
  const double seconds_each = options.seconds * static_cast<double>(bench.backends.size() + 1);
  double promised = estimate_seconds(options.sizes, seconds_each, {}, 0.0);
  if (first) fmt::print(stderr, "{}", render_start(options.sizes.size(), bench.backends.size(), promised));
  const double start = ddl::steady_seconds();
  std::vector<SizeResult> sizes;
  std::vector<MeasuredSize> measured;
  std::size_t wrong = 0;
  for (const std::size_t bytes : options.sizes) {
    const double before = ddl::steady_seconds();
    sizes.push_back(measure_size(world, bench.backends, bytes, plan));
    for (const BackendResult& backend : sizes.back().backends) wrong += backend.wrong();
    if (table) print_now(render_table_rows(facts, sizes.back()));
    const double now = ddl::steady_seconds();
    measured.push_back({bytes, now - before, seconds_of_calls(sizes.back())});
    const double left =
        estimate_seconds(options.sizes, seconds_each, measured, find_seconds_per_byte(facts, sizes.back()));
    if (now - start + left > corrected_from * promised + 1.0) {  // a busy machine, or a slow network
      promised = now - start + left;
      if (first && left > 0.0)
        fmt::print(stderr, "ddl-bench: {} of {} after {:.0f} s; about {:.0f} s more\n", sizes.size(),
                   count_of(options.sizes.size(), "size"), now - start, std::ceil(left));
    }
  }
  if (table) print_now(render_table_foot(facts, sizes));
  if (first && options.json == "-") print_now(render_results_json(facts, sizes));
  if (first && goes_to_file(options.json)) write_json(options.json, render_results_json(facts, sizes));
  return wrong == 0 ? 0 : 1;
}

BenchOptions parse_words(const std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "allreduce" && words[0] != "--help" && words[0] != "--version")) {
    throw Error(ErrorKind::usage,
                {words.empty() ? "the measurement is missing"
                               : fmt::format("unknown benchmark '{}'", printable(words[0], 40)),
                 "command line", "ddl-bench allreduce"});
  }
  const std::size_t skipped = words[0] == "allreduce" ? 1 : 0;
  return parse_bench_options(std::span(words).subspan(skipped));
}

int judge_options(std::span<const std::string> words) {
  try {
    parse_bench_options(words);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error("ddl-bench", error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace

int run_bench_command(const std::vector<std::string>& words) {
  if (!words.empty() && words[0] == "check-options") return judge_options(std::span(words).subspan(1));
  if (!words.empty() && words[0] == "__reference") {
    fmt::print("{}", render_commands_json({describe_bench()}));
    return 0;
  }
  if (!words.empty() && words[0] == "__complete") {
    const auto none = [](std::string_view) { return std::vector<Candidate>(); };
    fmt::print("{}",
               render_completion(complete_command(describe_bench(), std::span(words).subspan(1), none)));
    return 0;
  }
  BenchOptions options;
  std::optional<Error> mistake;
  try {
    options = parse_words(words);
  } catch (const Error& error) {
    mistake = error;
  }
  if (options.help || options.version) {
    if (ddl::launched_rank().value_or(0) == 0)
      fmt::print("{}", options.help ? render_bench_help() : fmt::format("ddl-bench {}\n", DDLRUN_VERSION));
    return 0;
  }
  // Launched ranks all start MPI first: a launcher ends the others as soon as one has failed.
  const bool threads = options.names("oneccl");
  return run_with_mpi(threads, [&](World& world, const MpiModule& mpi) {
    if (mistake)
      return refuse_on_all(world, exit_code(mistake->kind()), render_error("ddl-bench", mistake->message()));
    return measure_all(options, world, mpi);
  });
}

}  // namespace ddlrun::ddl_bench
