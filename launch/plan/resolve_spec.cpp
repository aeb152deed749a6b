// SPDX-License-Identifier: MIT
#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/parse_enum.hpp"
#include "base/text/text.hpp"
#include "doctor/parse/cidr.hpp"
#include "launch/plan/job_shape.hpp"
#include "launch/plan/launch_spec.hpp"
#include "launch/plan/mpirun_placement.hpp"
#include "launch/plan/output_words.hpp"
#include "launch/plan/resolve_framework.hpp"
#include "topology/dims.hpp"
#include "topology/sources/job_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddlrun::launch {

namespace {

constexpr std::uint64_t max_threads = 4096;
constexpr std::uint64_t max_stall_timeout = 86'400;
constexpr std::uint64_t max_restarts = 1000;
constexpr std::uint64_t max_host_timeout = 7 * 24 * 3600;

[[noreturn]] void refuse_flags(std::string what, std::string where, std::string hint) {
  throw Error(ErrorKind::usage, {std::move(what), std::move(where), std::move(hint)});
}

unsigned parse_count_flag(const char* flag, const std::string& text, std::uint64_t least, std::uint64_t most,
                          std::string hint) {
  const auto number = parse_unsigned(text, most);
  if (number && *number >= least) return static_cast<unsigned>(*number);
  refuse_flags(
      fmt::format("{} must be a number from {} to {}, not '{}'", flag, least, most, printable(text, 40)),
      flag, std::move(hint));
}

PlacementSpec resolve_placement(const LaunchFlags& flags) {
  PlacementSpec spec;
  spec.plan = topology::parse_plan_options(flags.plan);
  spec.order_is_typed = !flags.plan.order.empty();
  spec.machine = flags.machine;
  const Binding binding = parse_binding(flags.bind_to);
  spec.binds = binding != Binding::none;
  if (binding == Binding::core && spec.plan.cores_per_rank == 0) spec.plan.cores_per_rank = 1;
  spec.memory = parse_enum<MemoryPolicy>(
      "--mem-bind", flags.mem_bind,
      {{"local", MemoryPolicy::leave}, {"preferred", MemoryPolicy::preferred}, {"bind", MemoryPolicy::bind}});
  if (!flags.visible_gpus.empty()) {
    spec.visible_gpus =
        parse_enum<GpuView>("--visible-gpus", flags.visible_gpus,
                            {{"all", GpuView::leave}, {"one", GpuView::one}, {"host", GpuView::host}});
  }
  return spec;
}

ThreadSpec resolve_threads(const LaunchFlags& flags) {
  ThreadSpec spec;
  if (!flags.threads.empty()) {
    spec.threads = parse_count_flag("--threads", flags.threads, 1, max_threads,
                                    "--threads 4, or omit it: one for each core of a rank");
  }
  spec.affinity = parse_enum<AffinityMode>("--affinity", flags.affinity.empty() ? "auto" : flags.affinity,
                                           {{"auto", AffinityMode::automatic},
                                            {"off", AffinityMode::off},
                                            {"libgomp", AffinityMode::libgomp},
                                            {"libomp", AffinityMode::libomp}});
  spec.show = flags.show_threads;
  return spec;
}

// "10.9.1.0/24", "ib0", "none"
bool may_be_network(std::string_view text) {
  constexpr std::size_t longest_name = 15;  // of an interface: IFNAMSIZ less one
  const bool may_be_name =
      text.size() <= longest_name && !text.starts_with('-') && text.find('/') == text.npos;
  return may_be_name || doctor::parse_ipv4(text);
}

LauncherSpec resolve_launcher(const LaunchFlags& flags) {
  LauncherSpec spec;
  if (flags.launcher != "auto") {
    spec.kind = parse_launcher(flags.launcher);
    if (!spec.kind) {
      const std::vector<std::string> names{"auto", "openmpi", "mpich", "intelmpi", "srun", "ssh"};
      refuse_flags(fmt::format("'{}' is not one of {}", printable(flags.launcher, 40), join(names, ", ")),
                   "--launcher", "--launcher " + closest_match(flags.launcher, names).value_or("auto"));
    }
  }
  refuse_placement_arguments(flags);
  spec.mpirun = flags.mpirun;
  spec.words = {flags.mca, flags.mpi_arguments, flags.tag_output, flags.allow_run_as_root};
  if (!may_be_network(flags.interface))
    refuse_flags(fmt::format("'{}' is no network and no interface", printable(flags.interface, 60)),
                 "--interface", "--interface 10.9.1.0/24, or --interface ib0");
  spec.interface = flags.interface;
  return spec;
}

MonitorSpec resolve_monitor(const LaunchFlags& flags) {
  MonitorSpec spec;
  spec.stall_timeout =
      static_cast<int>(parse_count_flag("--stall-timeout", flags.stall_timeout, 0, max_stall_timeout,
                                        "--stall-timeout 60   # seconds; 0 turns the report off"));
  if (flags.on_stall != "warn" && flags.on_stall != "end") {
    refuse_flags(fmt::format("--on-stall must be warn or end, not '{}'", printable(flags.on_stall, 40)),
                 "--on-stall", "--on-stall end");
  }
  spec.end_on_stall = flags.on_stall == "end";
  if (spec.end_on_stall && flags.no_monitor)
    refuse_flags("--on-stall end and --no-monitor conflict", "", "--on-stall end alone");
  spec.supervise = !flags.no_monitor;
  spec.diagnose = !flags.no_diagnose;
  return spec;
}

OutputSpec resolve_output(const LaunchFlags& flags, const MonitorSpec& monitor) {
  using Mode = OutputSpec::Mode;
  OutputSpec spec;
  spec.tee = flags.tee;
  spec.mode = parse_enum<Mode>("--rank-output", flags.rank_output,
                               {{"screen", Mode::screen}, {"prefix", Mode::prefix}, {"files", Mode::files}});
  if (!spec.is_framed()) return spec;
  const std::string typed = typed_output(spec);
  if (flags.tag_output) refuse_flags(typed + " and --tag-output conflict", "", typed + " alone");
  if (!monitor.supervise) refuse_flags(typed + " and --no-monitor conflict", "", typed + " alone");
  check_frames_arrive(spec, parse_launcher(flags.launcher), flags.mpi_arguments);
  return spec;
}

RestartSpec resolve_restart(const LaunchFlags& flags, const JobShape& shape) {
  RestartSpec spec;
  spec.policy.most =
      parse_count_flag("--max-restarts", flags.max_restarts, 0, max_restarts, "--max-restarts 3");
  spec.policy.on_host_failure = parse_host_failure(flags.on_host_failure);
  spec.policy.dims_were_given = shape.has_ranks_per_host() || shape.total_ranks > 0 ||
                                !shape.host_ranks.empty() || !shape.rankfile.empty() ||
                                !flags.framework.workers.empty();
  if (spec.policy.on_host_failure == HostFailure::shrink && !shape.rankfile.empty()) {
    refuse_flags("--on-host-failure shrink and --rankfile conflict: a rankfile names its hosts",
                 "--on-host-failure shrink", "--on-host-failure wait, or DIMS instead of --rankfile");
  }
  if (spec.policy.most == 0 && (flags.on_host_failure != "auto" || !flags.restart_arguments.empty())) {
    refuse_flags("--on-host-failure and --restart-arg need --max-restarts",
                 "--on-host-failure, --restart-arg", "--max-restarts 3");
  }
  spec.host_timeout = std::chrono::seconds(
      parse_count_flag("--host-timeout", flags.host_timeout, 0, max_host_timeout, "--host-timeout 600"));
  spec.arguments = flags.restart_arguments;
  return spec;
}

std::optional<bool> resolve_verify(const LaunchFlags& flags) {
  if (flags.verify && flags.no_verify)
    refuse_flags("--verify and --no-verify conflict", "", "one of the two");
  if (flags.strict && flags.no_verify)
    refuse_flags("--strict and --no-verify conflict", "", "--strict alone");
  const bool is_unbound = flags.bind_to == "none";
  if (is_unbound && (flags.verify || flags.strict)) {
    const std::string typed = flags.strict ? "--strict" : "--verify";
    refuse_flags(typed + " and --bind-to none conflict: a rank without binding has no cores to compare", "",
                 typed + " alone, or --bind-to none alone");
  }
  if (flags.verify || flags.strict) return true;
  return flags.no_verify || is_unbound ? std::optional(false) : std::nullopt;
}

// "launch 2 ./prog": the word names a program, not hosts.
void check_no_program(System& system, const LaunchFlags& flags, const HostWords& words) {
  for (const std::string& word : {words.dims, words.hosts}) {
    if (topology::is_dims_word(word) || word[0] == '@' || topology::is_this_host(system.environment, word))
      continue;
    const bool is_path = word.find('/') != std::string::npos;
    if (!is_path && (!flags.program.empty() || find_program(system, word).empty())) continue;
    const std::string dims = word == words.dims ? "" : " " + words.dims;
    refuse_flags(fmt::format("'{}' is a program; put programs after --", printable(word, 60)), "",
                 fmt::format("ddlrun launch{} -- {}", dims, quote_shell(word)));
  }
}

}  // namespace

LaunchSpec resolve_launch_spec(System& system, const LaunchFlags& flags) {
  HostWords words = resolve_host_words(flags);
  check_no_program(system, flags, words);
  std::vector<std::string> hosts = topology::read_host_names(system, words.hosts, flags.hostfile);
  if (words.counts.empty())
    words.counts =
        counts_of_slots(flags, words, hosts, topology::read_host_slots(system, words.hosts, flags.hostfile));
  refuse_mapping(flags, hosts, words.counts);
  const std::string filled = fill_slots(flags, hosts, words);
  LaunchSpec spec;
  spec.shape = resolve_shape(flags, words);
  spec.shape.filled_hosts = filled;
  const ResolvedFramework framework = resolve_framework(system, flags, spec.shape);
  spec.framework = framework.spec;
  spec.placement = resolve_placement(flags);
  if (framework.is_packed && !spec.placement.order_is_typed && spec.shape.rankfile.empty())
    spec.placement.plan.order = topology::RankOrder::packed;
  spec.threads = resolve_threads(flags);
  if (framework.leaves_threads_free && spec.threads.affinity == AffinityMode::automatic)
    spec.threads.affinity = AffinityMode::off;
  spec.exports = flags.exports;
  spec.default_exports = flags.default_exports;
  spec.launcher = resolve_launcher(flags);
  spec.monitor = resolve_monitor(flags);
  spec.output = resolve_output(flags, spec.monitor);
  spec.restart = resolve_restart(flags, spec.shape);
  spec.origin = flags.origin;
  spec.program = flags.program;
  spec.program_list = flags.program_list;
  spec.run_dir = flags.run_dir;
  spec.in_history = !flags.no_history;
  if (flags.no_history && flags.run_dir.empty())
    throw Error(ErrorKind::usage,
                {"--no-history keeps a run with --run-dir out of the list; without --run-dir "
                 "its files are in the list's own directory",
                 "--no-history", "--no-history --run-dir DIR"});
  spec.dry_run = flags.dry_run;
  spec.verify = resolve_verify(flags);
  spec.strict = flags.strict;
  spec.shape.hosts = hosts;
  return spec;
}

void check_run_flags(const LaunchFlags& flags) {
  resolve_placement(flags);
  resolve_launcher(flags);
  resolve_output(flags, resolve_monitor(flags));
  resolve_restart(flags, {});
}

LaunchSpec with_dims(LaunchSpec spec, const std::optional<topology::Dims>& dims) {
  spec.shape.dims = dims;
  spec.shape.ranks_per_host = spec.shape.hosts_per_rack = spec.shape.racks = spec.shape.aisles = std::nullopt;
  spec.shape.total_ranks = spec.shape.local_ranks = 0;
  return spec;
}

}  // namespace ddlrun::launch
