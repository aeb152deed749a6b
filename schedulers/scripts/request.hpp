// SPDX-License-Identifier: MIT
// What a script asks of its scheduler, in words of neither: the ground between #PBS and #SBATCH.
#pragma once

#include "schedulers/scripts/job_script.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::job_scripts {

// Nodes that are alike: one chunk of select, or the whole of a Slurm job. 0: not set.
struct Chunk {
  std::uint64_t nodes = 1;
  std::uint64_t cores = 0;    // of each node
  std::uint64_t tasks = 0;    // of each node
  std::uint64_t threads = 0;  // OpenMP threads of each task, or cores of each task
  std::uint64_t gpus = 0;     // of each node
  std::uint64_t memory = 0;   // bytes of each node
  std::string gpu_type;
  std::string host;
  std::vector<std::pair<std::string, std::string>> others;  // resources of the site's own

  bool operator==(const Chunk&) const = default;
};

enum class Spread { unspecified, scatter, pack };
enum class Export { unspecified, all, none, list };
enum class Style { unspecified, select, old_nodes, cores_only };

struct ArrayText {
  std::string range;         // "0-9" or "0-9:2", "1,5,7"
  std::string max_parallel;  // "%4" -> "4"
};

// What could not be carried into another dialect, or only by changing its meaning.
struct Unsupported {
  int line = 0;
  std::string text;  // the directive as it stood
  std::string why;
  bool wrong = false;       // it meant something that the new script does not do
  std::string directive{};  // as the same scheduler takes it, where it may stand as it is; else ""
};

struct ResourceRequest {
  std::vector<Chunk> chunks;
  Style style = Style::unspecified;
  std::uint64_t total_tasks = 0;  // Slurm's --ntasks if nothing else is set
  std::uint64_t memory_per_core = 0;
  std::uint64_t total_gpus = 0;
  std::uint64_t job_memory = 0;  // PBS -l mem=: of the whole job
  Spread spread = Spread::unspecified;
  bool exclusive = false, shared = false;

  std::string name, queue, account, project, qos, reservation, comment, constraint, hosts, not_hosts;
  std::uint64_t walltime_seconds = 0;
  std::string output, error;
  bool join = false, append = false;
  std::string mail_user;
  bool mail_begin = false, mail_end = false, mail_fail = false, mail_none = false;
  std::optional<ArrayText> array;
  std::vector<std::pair<std::string, std::string>> dependencies;  // "afterok", "12:13"
  std::optional<bool> requeue;
  bool hold = false, block = false;
  std::string begin;  // as written
  std::string dir;
  Export exported = Export::unspecified;
  std::string export_list;                                    // "A=1,B"
  std::vector<std::pair<std::string, std::string>> assigned;  // variables whose values have commas
  std::string signal;                                         // "USR1@120"
  std::optional<std::int64_t> priority;
  std::string shell;    // PBS -S
  bool torque = false;  // options or variables that only Torque has

  std::vector<Unsupported> unsupported;
  int select_line = 0;  // where the shape is requested
};

// "--licenses=fs1", "-l software=x"; "" where the value needs quotes.
std::string directive_text(const Directive& directive);

constexpr std::uint64_t max_count = 1u << 20;  // a larger number of anything is none

// The shape in figures, 0 if not set.
std::uint64_t node_count(const ResourceRequest& request);
std::uint64_t task_count(const ResourceRequest& request);
std::uint64_t core_count(const ResourceRequest& request);  // at least one for each task
// True where chunks differ in more than their hosts.
bool has_unlike_chunks(const ResourceRequest& request);

ResourceRequest read_pbs_request(const JobScript& script);
ResourceRequest read_slurm_request(const JobScript& script);
ResourceRequest read_request(const JobScript& script);  // by the script's dialect

// Directives without their sentinel; what the dialect cannot express is added to `unsupported` of the result.
struct RenderedRequest {
  std::vector<std::string> directives;
  std::vector<Unsupported> unsupported;
};
RenderedRequest render_slurm_request(const ResourceRequest& request);
RenderedRequest render_pbs_request(const ResourceRequest& request);

// "4:00:00", "30" (PBS: seconds, Slurm: minutes), "1-12" -> seconds; nothing where it is no time.
std::optional<std::uint64_t> parse_pbs_time(std::string_view text);
std::optional<std::uint64_t> parse_slurm_time(std::string_view text);
std::string render_time(std::uint64_t seconds);  // "04:00:00"
// "8gb", "8G", "1024" (PBS: bytes, Slurm: MiB) -> bytes
std::optional<std::uint64_t> parse_pbs_size(std::string_view text);
std::optional<std::uint64_t> parse_slurm_size(std::string_view text);

}  // namespace ddlrun::job_scripts
