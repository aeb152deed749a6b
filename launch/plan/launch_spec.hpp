// SPDX-License-Identifier: MIT
// One launch, checked and typed. resolve_launch_spec() makes it from the flags; a restart or a replay makes a
// changed copy; no function changes one in place.
#pragma once

#include "launch/frameworks/framework.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/monitor/restart.hpp"
#include "launch/plan/launch_flags.hpp"
#include "launch/rank/rank_map.hpp"
#include "topology/dims.hpp"
#include "topology/plan.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

// How many ranks, on which hosts.
struct JobShape {
  std::vector<std::string> hosts;      // as named; empty: the allocation, else this host
  std::optional<topology::Dims> dims;  // DIMS, or those of --np -N
  // The factors of DIMS one by one, where DIMS are not given.
  std::optional<std::uint32_t> ranks_per_host, hosts_per_rack, racks, aisles;
  // By host, where -H gives different counts, or counts of TensorFlow's tasks; else empty.
  std::vector<std::uint32_t> host_ranks;
  std::uint32_t total_ranks = 0;  // --np N over all hosts; 0: not given
  std::uint32_t local_ranks = 0;  // --np -N on this host; 0: not given
  std::string rankfile;           // the user's; "": made from the plan
  std::string filled_hosts;       // which hosts -n fills where it has fewer ranks than slots; or ""

  bool has_ranks_per_host() const { return dims || ranks_per_host; }
  bool says_count() const {
    return has_ranks_per_host() || !host_ranks.empty() || total_ranks > 0 || local_ranks > 0 ||
           !rankfile.empty();
  }
};

struct PlacementSpec {
  topology::PlanOptions plan;
  bool order_is_typed = false;       // else plan.order is a default or the framework's
  topology::MachineOptions machine;  // a described machine instead of the hosts' own
  bool binds = true;                 // each rank to its cores; false: to none (--bind-to none)
  MemoryPolicy memory = MemoryPolicy::leave;
  std::optional<GpuView> visible_gpus;  // nothing: as the framework expects
};

enum class AffinityMode { automatic, off, libgomp, libomp };

struct ThreadSpec {
  std::uint32_t threads = 0;  // of each rank; 0: one for each of its cores
  AffinityMode affinity = AffinityMode::automatic;
  bool show = false;
};

struct LauncherSpec {
  std::optional<LauncherKind> kind;  // nothing: the kind of mpirun, srun in a Slurm job, ssh
  std::string mpirun = "mpirun";
  LauncherWords words;
  std::string interface;  // CIDR, NAME or none; "": chosen where it matters
};

struct FrameworkSpec {
  frameworks::Framework framework = frameworks::Framework::none;
  bool is_named = false;                    // by --framework, not detected
  bool uses_torch = false;                  // DDL: the script names torch.distributed too
  bool needs_mpi = false;                   // the program asks MPI for its rank
  bool wants_result = false;                // rank 0 may leave a result, as with HorovodRunner
  std::uint32_t ps_tasks = 0, workers = 0;  // TensorFlow; 0: none
  bool chief = false;
  bool flags_style = false;  // TensorFlow: flags instead of TF_CONFIG
  std::uint16_t base_port = 2222;
  std::optional<std::uint16_t> master_port;  // nothing: a free port
  std::string ddl_mode;
  std::vector<std::string> ddl_arguments;
  frameworks::HorovodSettings horovod;
  frameworks::IntelCaffeOptions intel_caffe;
  std::vector<std::string> remarks;  // why, for people
  // Two of them in which nothing is wrong: what the framework was seen by, and that it numbers the ranks host
  // by host. "" where they are not made.
  std::string detection, order_remark;
};

struct OutputSpec {
  enum class Mode { screen, prefix, files };
  Mode mode = Mode::screen;
  bool tee = false;  // files too

  bool writes_files() const { return tee || mode == Mode::files; }
  bool shows() const { return tee || mode != Mode::files; }
  // The supervisors frame the output of their ranks; else it comes as the launcher passes it on.
  bool is_framed() const { return writes_files() || mode == Mode::prefix; }
};

struct MonitorSpec {
  bool supervise = true;   // a supervisor stays with each rank
  int stall_timeout = 60;  // seconds; 0: no stall is reported
  bool end_on_stall = false;
  bool diagnose = true;
};

struct RestartSpec {
  RestartPolicy policy;
  std::chrono::seconds host_timeout{600};
  std::vector<std::string> arguments;  // appended to the program from the second start on
  // Of this start.
  unsigned number = 0;                     // starts before it
  std::string restart_of;                  // id of the run before it; or ""
  std::vector<std::string> first_program;  // that of the first start, if a restart has changed it
};

struct LaunchSpec {
  JobShape shape;
  PlacementSpec placement;
  ThreadSpec threads;
  std::vector<std::string> exports, default_exports;
  LauncherSpec launcher;
  FrameworkSpec framework;
  OutputSpec output;
  MonitorSpec monitor;
  RestartSpec restart;
  LaunchOrigin origin;
  std::vector<std::string> program;  // empty, or options alone: the bundled trainer
  std::string program_list;          // path of a list of programs; or ""
  std::string run_dir;
  bool dry_run = false;
  bool in_history = true;      // a run with a run_dir of the user's is added to the list of runs
  std::optional<bool> verify;  // nothing: for the trainer only
  bool strict = false;
};

// Error{usage} for a flag that is invalid or contradicts another; Error{request} for a file that cannot be
// read. Reads the hostfile, the program's script and Horovod's YAML file; starts nothing.
LaunchSpec resolve_launch_spec(System& system, const LaunchFlags& flags);

// Error{usage} as resolve_launch_spec(), for flags alone that concern no ranks, hosts or program.
void check_run_flags(const LaunchFlags& flags);

// The same launch with other dims, as a restart or a replay knows them.
LaunchSpec with_dims(LaunchSpec spec, const std::optional<topology::Dims>& dims);

}  // namespace ddlrun::launch
