// SPDX-License-Identifier: MIT
// One job as the user means it, whatever the scheduler: shape, time, program, and what stands around it.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/job/job_settings.hpp"
#include "topology/dims.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::schedulers {

enum class SchedulerKind { slurm, pbs, torque, local };
// qsub, #PBS lines, $PBS_NODEFILE.
constexpr bool is_pbs_like(SchedulerKind kind) {
  return kind == SchedulerKind::pbs || kind == SchedulerKind::torque;
}
// How the ranks are started in the job. ddlrun: `ddlrun launch`, with plan, check and verification. srun:
// Slurm starts them. none: the program is started once, on the first host, and starts its own.
enum class Runner { ddlrun, srun, none };
enum class DoctorLevel { off, warn, stop };

struct Container {
  std::string image;                  // a path or docker://...
  std::string runtime = "apptainer";  // or singularity
  std::vector<std::string> binds;     // "/scratch:/data"
};

struct EarlySignal {
  std::string name = "USR1";         // USR1, USR2, TERM, INT
  std::uint32_t before_seconds = 0;  // ahead of the time limit; 0: none
};

struct Requeue {
  bool wanted = false;
  std::uint32_t max_restarts = 3;
};

struct ArrayRange {
  std::uint32_t first = 0, last = 0, step = 1;
  std::uint32_t max_parallel = 0;  // 0: no limit
  std::vector<ArrayRange> more;    // of a list of Slurm: its other parts
};

std::uint64_t array_tasks(const ArrayRange& array);  // how many

constexpr std::string_view newest_job = "last";  // until submit gives the id

struct Dependency {
  std::string kind;  // after, afterok, afternotok, afterany
  std::string job;   // as the scheduler prints it, or newest_job
};

struct Staging {
  std::string from;  // a directory that all hosts see
  std::string to;    // a directory on each host's own disk; "": the data is used where it is
};

// A setting that only `ddlrun launch` or `ddlrun doctor` in the job reads.
struct PassedOption {
  std::string key;  // "on_stall"
  Command words;    // {"--on-stall", "end"}
};

struct JobSpec {
  std::string name = "ddlrun";
  SchedulerKind scheduler = SchedulerKind::local;
  std::string site;  // the profile's name, or ""

  // Shape. Ranks per node = dims.gpus_per_node, nodes = dims.host_count().
  topology::Dims dims;
  topology::RankOrder order = topology::RankOrder::ddl;
  std::vector<std::string> hosts;    // requested by name; empty: any
  std::uint32_t cores_per_node = 0;  // 0: not known
  std::uint32_t hardware_threads_per_core = 1;
  std::uint32_t reserved_cores = 0;  // per node, for communication and input
  std::uint32_t threads = 0;         // per rank; 0: not known, whole cores are dealt out in the job
  std::uint32_t shared_cpus = 0;     // of a node, where more ranks than cores share them; 0: none are shared
  std::uint32_t gpus_per_node = 0;   // asked from the scheduler
  std::string gpu_type;
  std::uint64_t memory_bytes = 0;  // per node; 0: the site's default
  bool exclusive = true;
  std::string constraint;  // Slurm's --constraint; PBS: host-level resource of the chunk, "" none

  // Where it waits, and who pays.
  std::uint64_t walltime_seconds = 0;  // 0: the queue's default
  std::string queue;                   // partition
  std::string account;
  std::string project;      // PBS -P, Slurm --wckey
  std::string application;  // the site's application code; how it is carried is the profile's
  std::string qos;
  std::string reservation;

  // What stands around the program.
  std::vector<std::string> modules;
  bool purge_modules = true;
  std::string conda;  // an environment's name or directory
  std::string venv;   // a directory
  std::optional<Container> container;
  std::vector<std::string> environment;  // "NAME" or "NAME=value": what reaches the ranks
  // Names of `environment` that are not set where the job is handed in: only the job itself can set them.
  std::vector<std::string> unset_names;
  std::vector<std::string> setup;  // shell lines of the user's, verbatim, before the program
  std::optional<Staging> data;

  Command program;
  std::string workdir;  // absolute
  Runner runner = Runner::ddlrun;
  std::string srun_mpi = "pmix";  // "": the site's default
  DoctorLevel doctor = DoctorLevel::stop;
  std::string affinity = "auto";   // auto, off, libgomp, libomp
  std::string framework = "auto";  // whose variables the ranks get; auto: found from the program
  std::vector<PassedOption> launch_options, doctor_options;
  std::string ddlrun = "ddlrun";  // the binary inside the job

  // Its life.
  EarlySignal signal;
  Requeue requeue;
  std::optional<ArrayRange> array;
  std::vector<Dependency> dependencies;
  std::string mail;                     // an address
  std::string mail_events;              // of begin, end, fail, joined by ','
  std::string script_template;          // a file: the user's own script, with placeholders, instead of ours
  std::string output;                   // a file; "": in the job's directory
  std::vector<std::string> directives;  // verbatim, without "#SBATCH" or "#PBS"

  std::uint32_t nodes() const { return dims.host_count(); }
  std::uint32_t ranks_per_node() const { return dims.gpus_per_node; }
  // More ranks than cores may share the cores of a node.
  bool oversubscribes() const { return launch_option("oversubscribe") != nullptr; }
  // Of launch_options; null without it.
  const PassedOption* launch_option(std::string_view key) const {
    const auto found = std::ranges::find(launch_options, key, &PassedOption::key);
    return found == launch_options.end() ? nullptr : &*found;
  }
};

// What was decided for the user, for people: "threads: 60 = (68 cores - 8 reserved) / 1 rank".
struct ParsedJob {
  JobSpec job;
  std::vector<std::string> remarks;
  std::vector<Message> errors;  // all of them, each with its place; the job is good only if there are none
  bool lacks_cores = false;     // one of the errors is that cores_per_node is needed and not set
};

// Converts and checks every setting, alone and together (dims against hosts, ranks x threads against cores,
// signal against walltime, array against requeue, ...). Never throws for what the user wrote. `nodes_there`:
// how many nodes the queue has, where that is known: a remedy asks for no more.
ParsedJob read_job(const JobSettings& settings, std::optional<std::uint64_t> nodes_there = {});

// "HH:MM:SS", "D-HH:MM:SS", "90m", "4h", "1h30m" -> seconds; nothing if it is none of these or 0. A bare
// number is refused, because Slurm takes it for minutes and PBS for seconds.
std::optional<std::uint64_t> parse_walltime(std::string_view text);
std::string render_walltime(
    std::uint64_t seconds);  // "100:00:00": hours may exceed 24, as PBS and Slurm both take

}  // namespace ddlrun::schedulers
