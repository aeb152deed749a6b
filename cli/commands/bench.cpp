// SPDX-License-Identifier: MIT
// `ddlrun bench`: how fast sums over ranks are here, and whether N ranks train N times faster than one.
#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "bench/scaling/bench_scaling.hpp"
#include "bench/scaling/busy_cores.hpp"
#include "cli/commands/bench_against.hpp"
#include "cli/commands/bench_predict.hpp"
#include "cli/commands/commands.hpp"
#include "cli/launch_flags.hpp"
#include "launch/plan/choose_program.hpp"
#include "launch/plan/default_ranks.hpp"
#include "launch/plan/job_shape.hpp"
#include "launch/run/launch.hpp"
#include "topology/dims.hpp"
#include "topology/sources/allocation.hpp"
#include "topology/sources/job_machines.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

namespace ddlrun::cli {

using namespace bench_report;
using namespace launch;
using namespace topology;

namespace {

constexpr std::string_view bench_examples =
    R"(  ddlrun bench allreduce                        # libddl beside MPI_Allreduce and Gloo, on this host
  ddlrun bench allreduce 4x2x1 h1,h2 -- --sizes 64k:64M --json sums.json
  ddlrun bench allreduce 2 --against all        # beside every MPI of this machine
  ddlrun bench scaling                          # are 4 ranks 4 times faster?
  ddlrun bench scaling h1,h2 --ranks 1,4,8 --svg scaling.svg -- --net lenet5 --batch-size 64
  ddlrun bench predict --hosts 1-256 --ranks-per-host 4 --network 10Gbit/s,20us -- --net lenet5)";

constexpr std::string_view bench_notes =
    R"(All start their ranks as `ddlrun launch` does and take its options. Arguments after -- go to ddl-bench
(ddl-bench allreduce --help) or to ddl-train. scaling trains with the same batch and the same number of
cores per rank at every number of ranks. predict measures a step on this host and computes it for the
numbers of hosts in --hosts, which need not exist.)";

struct BenchCommandOptions {
  std::string what;
  LaunchFlags launch;
  std::string ranks, per_host, repeat = "1";
  std::string json, svg;
  std::string against;
  PredictFlags predict;
  std::vector<std::string> launch_words;  // the options of launch that were given
};

[[noreturn]] void refuse_bench(const std::string& what, const std::string& where, const std::string& hint) {
  throw Error(ErrorKind::usage, {what, where, hint});
}

int bench_count(const std::string& text, const std::string& name, int most) {
  const auto count = parse_unsigned(text, static_cast<std::uint64_t>(most));
  if (!count || *count == 0)
    refuse_bench(fmt::format("'{}' is no number from 1 to {}", printable(text, 40), most), name, name + " 1");
  return static_cast<int>(*count);
}

std::string find_bench_program(System& system) {
  const std::string& own = system.environment.executable;
  const std::string here = own.substr(0, own.rfind('/'));
  for (const char* place : {"/ddl-bench", "/../bench/ddl_bench/ddl-bench"})
    if (system.files.exists(here + place)) return here + place;
  std::string found = find_program(system, "ddl-bench");
  if (!found.empty()) return found;
  throw Error(ErrorKind::request,
              {"ddl-bench was not found", fmt::format("{0}, {0}/../bench/ddl_bench, PATH", here),
               "build with -DDDLRUN_RUNTIME=ON"});
}

std::vector<std::string> bench_host_names(System& system, const LaunchFlags& flags) {
  std::vector<std::string> hosts = read_host_names(system, resolve_host_words(flags).hosts, flags.hostfile);
  if (!hosts.empty()) return hosts;
  const auto allocation = find_allocation(system);
  return allocation ? allocation->hosts : std::vector<std::string>();
}

BenchHosts look_at_hosts(System& system, const BenchCommandOptions& options,
                         const std::vector<std::string>& hosts) {
  const std::vector<topology::MachineTopology> machines =
      hosts.empty() ? std::vector{machine_from_options(system, options.launch.machine)}
                    : find_job_machines(system, hosts, options.launch.machine, Unprobed::refuse).machines;
  BenchHosts found;
  found.hosts = std::max(1, static_cast<int>(hosts.size()));
  found.cores = static_cast<int>(machines[0].cores.size());
  for (const topology::MachineTopology& machine : machines)
    found.cores = std::min(found.cores, static_cast<int>(machine.cores.size()));
  const auto ranks = launch::default_ranks(machines, parse_plan_options(options.launch.plan)).ranks;
  found.ranks_of_a_host = static_cast<int>(ranks);
  return found;
}

// libddl cannot detect racks; it detects hosts and ranks itself.
void pass_dims(const Environment& environment, LaunchFlags& flags) {
  if (flags.dims.empty() || !environment.get("DDL_OPTIONS").empty()) return;
  const topology::Dims dims = topology::parse_dims(flags.dims);
  if (dims.racks * dims.aisles == 1) return;
  flags.exports.push_back("DDL_OPTIONS=-mode b:" + topology::render_dims(dims));
}

// Online processors, as /proc/stat lists them.
int count_own_cores(System& system) {
  const std::string text = system.files.exists("/proc/stat") ? system.files.read("/proc/stat", 4u << 20) : "";
  int cores = 0;
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with("cpu") && line.size() > 3 && line[3] != ' ') ++cores;
  return std::max(1, cores);
}

int run_bench_against_mpis(System& system, const BenchCommandOptions& options) {
  AgainstCommand command;
  command.choice = options.against;
  command.launch = options.launch;
  command.launch_words = options.launch_words;
  command.json = options.json;
  command.repeat = bench_count(options.repeat, "--repeat", 1000);
  command.cores = count_own_cores(system);
  return run_bench_against(system, command);
}

int run_bench_prediction(System& system, const BenchCommandOptions& options) {
  if (!options.ranks.empty() || !options.per_host.empty() || options.repeat != "1")
    refuse_bench("--ranks, --per-host and --repeat are for scaling", "ddlrun bench predict",
                 "ddlrun bench predict --hosts 1-16 --ranks-per-host 4 --network 10Gbit/s,20us");
  PredictCommand command;
  command.flags = options.predict;
  command.launch = options.launch;
  command.launch_words = options.launch_words;
  command.json = options.json;
  command.svg = options.svg;
  std::erase_if(command.launch_words, [](const std::string& word) {
    return starts_with_any(word, {"--hosts=", "--ranks-per-host=", "--hosts-per-rack="});
  });
  command.cores = count_own_cores(system);
  if (!options.predict.network_hosts.empty()) command.ddl_bench = find_bench_program(system);
  return run_bench_predict(system, command);
}

int run_bench_sums(System& system, const BenchCommandOptions& options) {
  const bool repeated = options.repeat != "1" && options.against.empty();
  if (!options.ranks.empty() || !options.per_host.empty() || repeated || !options.svg.empty())
    refuse_bench("--ranks, --per-host, --repeat and --svg are for scaling", "ddlrun bench allreduce",
                 "ddlrun bench allreduce 4   # ranks as DIMS");
  if (!options.launch.program.empty() && !options.launch.program[0].starts_with('-'))
    refuse_bench(fmt::format("'{}' is no option of ddl-bench", printable(options.launch.program[0], 60)),
                 "behind --", "ddlrun bench allreduce 2 -- --sizes 64k:64M");
  LaunchFlags launch = options.launch;
  launch.program = {find_bench_program(system), "allreduce"};
  if (!options.json.empty()) launch.program.insert(launch.program.end(), {"--json", options.json});
  launch.program.insert(launch.program.end(), options.launch.program.begin(), options.launch.program.end());
  Command judge = launch.program;
  judge[1] = "check-options";
  if (const int refused = run_option_check(system, judge, false); refused != 0) return refused;
  if (!options.against.empty()) return run_bench_against_mpis(system, options);
  pass_dims(system.environment, launch);
  if (!launch.dry_run) warn_if_busy(system, count_own_cores(system));
  const bool counted =
      launch.dims.empty() && launch.rankfile.empty() && bench_host_names(system, launch).empty();
  if (!counted) return run_launch_spec(system, resolve_launch_spec(system, launch));
  const std::vector<int> counts = default_sum_counts(look_at_hosts(system, options, {}).cores);
  if (writes_json_itself(launch.program) && counts.size() > 1)
    refuse_bench("--json would be written by the run of 2 ranks and again by that of 4",
                 "ddlrun bench allreduce", "ddlrun bench allreduce 4 --json sums.json");
  int status = 0;
  for (const int ranks : counts) {
    launch.dims = std::to_string(ranks);
    const int ended = run_launch_spec(system, resolve_launch_spec(system, launch));
    if (status == 0) status = ended;
  }
  return status;
}

ScalingRequest plan_scaling_request(System& system, const BenchCommandOptions& options) {
  ScalingRequest request;
  request.given_words = options.launch.program;
  request.trainer_words = scaling_trainer_words(options.launch.program);
  request.repeat = bench_count(options.repeat, "--repeat", 1000);
  if (!options.launch.rankfile.empty())
    refuse_bench("a rankfile is for one number of ranks", "--rankfile", "--ranks 1,2,4");
  std::vector<int> counts;
  if (!options.ranks.empty()) counts = parse_rank_counts(options.ranks);
  const int per_host = options.per_host.empty() ? 0 : bench_count(options.per_host, "--per-host", 1 << 20);
  request.hosts = bench_host_names(system, options.launch);
  const BenchHosts hosts = look_at_hosts(system, options, request.hosts);
  if (counts.empty()) counts = default_rank_counts(hosts);
  request.plan = plan_scaling(counts, hosts, per_host);
  request.launch_options = options.launch_words;
  request.cores_given = !options.launch.plan.cores_per_rank.empty();
  return request;
}

int run_bench_scaling(System& system, BenchCommandOptions options) {
  if (!options.launch.hosts.empty())
    refuse_bench("scaling takes HOSTS only: the numbers of ranks are --ranks", options.launch.dims,
                 "ddlrun bench scaling " + quote_shell(options.launch.hosts) + " --ranks 1,2,4");
  if (parse_unsigned(options.launch.dims))
    refuse_bench("scaling takes HOSTS; the numbers of ranks are --ranks", printable(options.launch.dims, 40),
                 "ddlrun bench scaling --ranks 1," + options.launch.dims);
  options.launch.hosts = options.launch.dims;
  options.launch.dims.clear();
  if (!options.against.empty())
    refuse_bench("--against is for allreduce", "ddlrun bench scaling",
                 "ddlrun bench allreduce 2 --against all");
  if (options.json == "-" && options.svg == "-")
    refuse_bench("--json - and --svg - both write to stdout: use one", "", "--svg scaling.svg");
  const ScalingRequest request = plan_scaling_request(system, options);
  if (options.launch.dry_run) {
    for (const ScalingRun& run : request.plan.runs)
      system.out(render_shell(scaling_command(system.environment, request, run)) + "\n");
    return 0;
  }
  check_not_root(system.environment, options.launch.allow_run_as_root);
  // What cannot be written is known before the runs.
  for (const std::string& file : {options.json, options.svg})
    if (!file.empty() && file != "-") system.files.write(file, "");
  warn_if_busy(system, count_own_cores(system));
  const bench_report::Scaling scaling = run_scaling(system, request);
  const std::string json = bench_report::render_scaling_json(scaling);
  const std::string svg = bench_report::render_scaling_svg(scaling);
  // Prints the measurements first: a full disk then loses the files only.
  if (options.json == "-") {
    system.out(json);
  } else {
    system.out(options.svg == "-" ? svg : bench_report::render_scaling_table(scaling));
  }
  if (!options.json.empty() && options.json != "-") system.files.write(options.json, json);
  if (!options.svg.empty() && options.svg != "-") system.files.write(options.svg, svg);
  return 0;
}

// The options of launch that were given, as words that launch reads back; not its positional words, nor ours.
std::vector<std::string> given_launch_words(const CLI::App& app) {
  constexpr auto own = std::to_array<std::string_view>(
      {"--help", "--verbose", "--quiet", "--ranks", "--per-host", "--repeat", "--json", "--svg", "--dry-run",
       "--against", "--network", "--network-hosts", "--from", "--timeline", "--step-ms", "--parameters",
       "--images"});
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || !name.starts_with('-') || name == "--hostfile") continue;
    if (std::find(own.begin(), own.end(), name) != own.end()) continue;
    const auto each = static_cast<std::size_t>(option->get_type_size_max());
    const std::vector<std::string> values = option->results();
    for (std::size_t i = 0; i < values.size(); i += std::max<std::size_t>(each, 1)) {
      const bool joined = each == 1 && name.starts_with("--");
      words.push_back(joined ? name + "=" + values[i] : name);
      for (std::size_t k = 0; k < each && !joined && i + k < values.size(); ++k)
        words.push_back(values[i + k]);
    }
  }
  return words;
}

int run_bench_command(System& system, BenchCommandOptions options) {
  if (options.what == "predict") return run_bench_prediction(system, options);
  if (has_predict_options(options.predict))
    refuse_bench(
        "--network, --network-hosts, --from, --timeline, --step-ms, --parameters and --images are for "
        "predict",
        "ddlrun bench " + printable(options.what, 40),
        "ddlrun bench predict --hosts 1-16 --network 10Gbit/s,20us");
  if (options.what == "allreduce") return run_bench_sums(system, options);
  if (options.what == "scaling") return run_bench_scaling(system, std::move(options));
  const std::vector<std::string> known = {"allreduce", "scaling", "predict"};
  refuse_bench(options.what.empty() ? "the measurement is missing"
                                    : fmt::format("unknown benchmark '{}'", printable(options.what, 40)),
               "ddlrun bench", "ddlrun bench " + closest_match(options.what, known).value_or("allreduce"));
}

}  // namespace

Subcommand bench_command() {
  Subcommand command;
  command.name = "bench";
  command.summary = "measure all-reduce, and how training scales with ranks; forecast more hosts";
  command.examples = bench_examples;
  command.notes = bench_notes;
  command.takes_program = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<BenchCommandOptions>();
    options->launch.program = rest;
    app.add_option("WHAT", options->what,
                   "allreduce, scaling or predict (scaling takes HOSTS, not DIMS; predict: --hosts)");
    add_launch_options(app, options->launch);
    app.add_option("--ranks", options->ranks, "scaling: numbers of ranks, for example 1,2,4")
        ->type_name("LIST");
    app.add_option("--per-host", options->per_host, "scaling: ranks that fill a host")->type_name("N");
    app.add_option("--repeat", options->repeat,
                   "scaling and --against: run each number or MPI N times, report the fastest (1)")
        ->type_name("N");
    app.add_option("--against", options->against,
                   "allreduce: compare with every MPI of this machine (all), or with those whose mpirun are "
                   "listed")
        ->type_name("all|PATHS");
    app.add_option("--json", options->json,
                   "write a JSON document to FILE; -: to stdout instead of the table")
        ->type_name("FILE");
    app.add_option("--svg", options->svg,
                   "scaling, predict: draw a chart into FILE; -: to stdout instead of the table")
        ->type_name("FILE");
    add_predict_options(app, options->predict);
    return [options, &app](System& system) {
      options->launch_words = given_launch_words(app);
      return run_bench_command(system, *options);
    };
  };
  return command;
}

}  // namespace ddlrun::cli
