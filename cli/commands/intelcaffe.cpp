// SPDX-License-Identifier: MIT
// `ddlrun intelcaffe`: the words of Intel Caffe's run_intelcaffe.sh, turned into a launch.
#include "base/os/host_info.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/machine_flags.hpp"
#include "launch/frameworks/intel_caffe_options.hpp"
#include "launch/plan/launch_flags.hpp"
#include "launch/run/launch.hpp"
#include "topology/sources/job_machines.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ddlrun::cli {

using namespace launch;
using namespace topology;

namespace {

constexpr std::string_view intelcaffe_examples =
    R"(  ddlrun intelcaffe --hostfile hosts --solver solver.prototxt --network opa --ppn 1 --num_omp_threads 60
  ddlrun intelcaffe --hostfile $PBS_NODEFILE --solver solver.prototxt --network tcp --netmask eth0 --dry-run
  ddlrun intelcaffe --mode time --model_file deploy.prototxt --iteration 100)";

constexpr std::string_view intelcaffe_notes =
    R"(The options are those of scripts/run_intelcaffe.sh. ddlrun checks all files before it starts anything. It
neither empties /dev/shm nor kills processes by name; ddlrun doctor reports what earlier jobs left there.)";

constexpr std::uint64_t most_prototxt_bytes = 16u << 20;
constexpr std::uint64_t good_shm_bytes = 40ull << 30;  // what the script asks for

struct IntelCaffeWords {
  LaunchFlags launch;
  frameworks::IntelCaffeRun run;
  std::string threads = "0", servers = "-1", ppn = "1", iterations = "0", threshold = "10000";
  std::string pin = "on", debug = "off", priority = "off";
  std::string benchmark = "none", output, mpibench_bin, mpibench_param;
};

int parse_count(const std::string& text, const std::string& option, int most, const std::string& extra = "") {
  if (!extra.empty() && text == extra) return -1;
  const auto number = parse_unsigned(text, static_cast<std::uint64_t>(most));
  if (number) return static_cast<int>(*number);
  throw Error(ErrorKind::usage, {fmt::format("'{}' is no number from 0 to {}", printable(text, 40), most),
                                 option, option + " 1"});
}

bool parse_on_off(const std::string& text, const std::string& option) {
  if (text == "on" || text == "off") return text == "on";
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is neither on nor off", printable(text, 40)), option, option + " on"});
}

void refuse_benchmark(const IntelCaffeWords& words) {
  if (words.benchmark == "none" && words.mpibench_bin.empty() && words.mpibench_param.empty()) return;
  throw Error(ErrorKind::usage, {"ddlrun has its own measurements of a network instead of qperf and IMB-MPI1",
                                 "--benchmark", "ddlrun bench allreduce DIMS HOSTS; ddlrun doctor"});
}

void need_file(System& system, const std::string& path, const std::string& what, const std::string& place) {
  if (path.empty() || system.files.exists(path)) return;
  throw Error(ErrorKind::request, {fmt::format("the {} '{}' does not exist", what, printable(path, 120)),
                                   place, "ls -l " + quote_shell(path)});
}

// What the solver and its net name; paths are taken from here, as Caffe does.
void check_caffe_files(System& system, const frameworks::IntelCaffeRun& run) {
  need_file(system, run.solver, "solver", "--solver");
  need_file(system, run.snapshot, "snapshot", "--snapshot");
  need_file(system, run.weights, "weights", "--weights");
  need_file(system, run.model, "model", "--model_file");
  std::string model = run.model, place = "--model_file";
  if (!run.solver.empty()) {
    model = frameworks::find_net_file(system.files.read(run.solver, most_prototxt_bytes)).value_or("");
    place = run.solver;
    need_file(system, model, "model", place);
  }
  if (model.empty()) return;
  for (const std::string& source :
       frameworks::find_lmdb_sources(system.files.read(model, most_prototxt_bytes)))
    need_file(system, source, "LMDB", model);
}

void look_at_shared_memory(System& system) {
  if (system.kernel == nullptr) return;
  const auto space = system.kernel->disk_space("/dev/shm");
  if (!space || space->free_bytes >= good_shm_bytes) return;
  system.err(
      fmt::format("ddlrun: /dev/shm here has {} free, MLSL needs {}; ddlrun doctor reports what fills it\n",
                  render_bytes(space->free_bytes), render_bytes(good_shm_bytes)));
}

// A node file names a host once for each slot; the script takes each once.
std::string hosts_once(System& system, const std::string& hostfile) {
  std::vector<std::string> once;
  for (const std::string& host : read_host_names(system, "", hostfile)) {
    if (std::ranges::find(once, host) == once.end()) once.push_back(host);
  }
  return join(once, ",");
}

int run_intelcaffe(System& system, IntelCaffeWords words) {
  refuse_benchmark(words);
  LaunchFlags& launch = words.launch;
  frameworks::IntelCaffeOptions& own = launch.framework.intel_caffe;
  own.omp_threads = parse_count(words.threads, "--num_omp_threads", 65536);
  own.servers = parse_count(words.servers, "--num_mlsl_servers", 1024, "-1");
  own.priority_threshold = parse_count(words.threshold, "--msg_priority_threshold", INT32_MAX);
  own.pin_internal_threads = parse_on_off(words.pin, "--internal_thread_pin");
  own.debug = parse_on_off(words.debug, "--debug");
  own.priority = parse_on_off(words.priority, "--msg_priority");
  words.run.iterations = parse_count(words.iterations, "--iteration", INT32_MAX);
  const int ppn = parse_count(words.ppn, "--ppn", 4096);
  if (ppn == 0) throw Error(ErrorKind::usage, {"--ppn 0 starts nothing", "--ppn", "--ppn 1"});
  frameworks::check_intel_caffe(own);
  launch.program = frameworks::intel_caffe_command(words.run);
  if (!launch.hostfile.empty()) launch.hosts = hosts_once(system, launch.hostfile);
  launch.hostfile.clear();
  launch.framework.framework = "intel-caffe";
  own.by_script = true;
  launch.ranks_per_host = std::to_string(ppn);
  check_caffe_files(system, words.run);
  look_at_shared_memory(system);
  launch.run_dir = words.output;
  return run_launch_spec(system, resolve_launch_spec(system, launch));
}

void add_script_options(CLI::App& app, IntelCaffeWords& words) {
  auto& own = words.launch.framework.intel_caffe;
  app.add_option("--hostfile", words.launch.hostfile, "hosts, one a line; repeated names are allowed")
      ->type_name("FILE");
  app.add_option("--solver", words.run.solver, "solver.prototxt, for --mode train")->type_name("FILE");
  app.add_option("--weights", words.run.weights, "start from these weights")->type_name("FILE");
  app.add_option("--snapshot", words.run.snapshot, "resume from this solver state")->type_name("FILE");
  app.add_option("--num_omp_threads", words.threads,
                 "threads of each rank; default: the cores that the MLSL servers leave")
      ->type_name("N");
  app.add_option("--network", own.network, "opa (default) or tcp")->type_name("NAME");
  app.add_option("--netmask", own.netmask, "tcp: interface or network for Intel MPI")->type_name("NET");
  app.add_option("--ppn", words.ppn, "ranks of each host (1)")->type_name("N");
  app.add_option("--mode", words.run.mode, "train (default), time or inf_time")->type_name("MODE");
  app.add_option("--iteration", words.iterations, "time: number of iterations")->type_name("N");
  app.add_option("--model_file", words.run.model, "time: the net")->type_name("FILE");
  app.add_option("--num_mlsl_servers", words.servers, "MLSL servers; -1 (default): 4 on knl and knm, else 2")
      ->type_name("N");
  app.add_option("--internal_thread_pin", words.pin,
                 "on (default): pin the data readers to the last two CPUs")
      ->type_name("on|off");
  app.add_option("--cpu", own.cpu, "bdw, skx, knl or knm; default: the CPU of this machine")
      ->type_name("NAME");
  app.add_option("--debug", words.debug, "on: MLSL logs its work")->type_name("on|off");
  app.add_option("--msg_priority", words.priority, "on: MLSL sends the tensors that are needed first")
      ->type_name("on|off");
  app.add_option("--msg_priority_threshold", words.threshold, "bytes from which on priorities apply (10000)")
      ->type_name("N");
  app.add_option("--mpi_iallreduce_algo", own.iallreduce, "Intel MPI's algorithm for all-reduce")
      ->type_name("N");
  app.add_option("--caffe_bin", words.run.caffe, "the caffe to run")->type_name("PATH");
  app.add_option("--engine", words.run.engine, "Caffe's engine")->type_name("NAME");
  app.add_option("--output", words.output, "the run directory")->type_name("DIR");
  app.add_option("--benchmark", words.benchmark, "only none; use ddlrun bench and ddlrun doctor to measure")
      ->type_name("none");
  app.add_option("--mpibench_bin", words.mpibench_bin, "as --benchmark")->type_name("PATH");
  app.add_option("--mpibench_param", words.mpibench_param, "as --benchmark")->type_name("ARG");
}

}  // namespace

Subcommand intelcaffe_command() {
  Subcommand command;
  command.name = "intelcaffe";
  command.summary = "start Intel Caffe with the options of its run_intelcaffe.sh";
  command.examples = intelcaffe_examples;
  command.notes = intelcaffe_notes;
  command.is_launch = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto words = std::make_shared<IntelCaffeWords>();
    add_script_options(app, *words);
    add_machine_options(app, words->launch.machine);
    app.add_option("--mpirun", words->launch.mpirun, "run this mpirun")->type_name("PATH");
    app.add_option("-x", words->launch.exports, "export VAR, or set and export VAR=value; repeatable")
        ->type_name("VAR[=VALUE]")
        ->allow_extra_args(false);
    app.add_flag("--dry-run", words->launch.dry_run,
                 "print the plan and the command as a script; run and write nothing");
    app.add_flag("--allow-run-as-root", words->launch.allow_run_as_root, "let mpirun run as root");
    return [words](System& system) { return run_intelcaffe(system, *words); };
  };
  return command;
}

}  // namespace ddlrun::cli
