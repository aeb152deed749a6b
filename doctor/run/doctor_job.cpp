// SPDX-License-Identifier: MIT
#include "doctor/run/doctor_job.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "doctor/model/job.hpp"
#include "topology/rankfile/rankfile_names.hpp"
#include "topology/rankfile/rankfile_reader.hpp"
#include "topology/rankfile/slot_list.hpp"
#include "topology/sources/allocation.hpp"
#include "topology/sources/job_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace ddlrun::doctor {

namespace {

std::uint32_t parse_count(const std::string& text, const char* option, const char* example,
                          std::uint64_t most) {
  if (text.empty()) return 0;
  const auto number = parse_unsigned(text, most);
  if (number && *number > 0) return static_cast<std::uint32_t>(*number);
  throw Error(ErrorKind::usage,
              {fmt::format("{} must be a number from 1 to {}, not \"{}\"", option, most, printable(text, 40)),
               option, fmt::format("ddlrun doctor {} {}", option, example)});
}

std::vector<std::uint16_t> parse_ports(const DoctorJobOptions& options, const Environment& environment) {
  std::vector<std::uint16_t> ports;
  for (const std::string& text : options.ports)
    ports.push_back(static_cast<std::uint16_t>(parse_count(text, "--port", "29500", 65535)));
  // The rendezvous port of PyTorch, where it was chosen beforehand.
  const auto master = parse_unsigned(environment.get("MASTER_PORT"), 65535);
  if (ports.empty() && master && *master > 0) ports.push_back(static_cast<std::uint16_t>(*master));
  return ports;
}

// Where the names of the job's hosts come from, as mpirun would look for them. `typed`: the names of the host
// list or of the hostfile.
void set_allocation(System& system, const DoctorJobOptions& options, const std::vector<std::string>& typed,
                    Job& job) {
  const std::string file = options.hosts.starts_with('@') ? options.hosts.substr(1) : options.hostfile;
  if (!file.empty()) {
    job.hostfile_path = file;
    job.allocation = typed;
    job.hostfile_text = system.files.read(file, topology::max_hostfile_bytes);
    job.allocation_source = "hostfile " + file;
  } else if (auto given = topology::find_allocation(system)) {
    job.allocation = std::move(given->hosts);
    job.allocation_source = given->source;
    job.hostfile_path = given->hostfile;
  } else if (!typed.empty()) {
    job.allocation = typed;
    job.allocation_source = "the host list";
  }
}

std::vector<std::string> each_once(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) result.push_back(name);
  }
  return result;
}

std::vector<std::string> hosts_of_rankfile(const Job& job) {
  std::vector<std::string> names;
  for (rankfile::RankLine& line : rankfile::parse_rank_lines(job.rankfile_text)) {
    if (is_host_name(line.host)) names.push_back(std::move(line.host));
  }
  return each_once(names);
}

// The cores of one rank, if the text alone contains them; else 0.
std::uint32_t cores_of(const std::string& slots) {
  const rankfile::SlotReading reading = rankfile::read_slots(slots, nullptr);
  if (reading.has_errors()) return 0;
  std::uint64_t cores = 0;
  std::set<std::pair<int, int>> named;  // a core that is named twice is one
  for (const rankfile::SlotRange& range : reading.ranges) {
    if (range.last >= rankfile::SlotRange::all || range.first >= rankfile::SlotRange::all ||
        range.package == rankfile::SlotRange::every_package)
      return 0;
    cores += static_cast<std::uint64_t>(range.last - range.first) + 1;
    if (cores > 65536) return 0;
    for (int core = range.first; core <= range.last; ++core) named.emplace(range.package, core);
  }
  return static_cast<std::uint32_t>(named.size());
}

// Ranks of each host by the name in the host list that Open MPI would take for it, and the widest rank.
void count_rankfile(Job& job, const std::vector<std::string>& hosts) {
  std::map<std::string, std::string, std::less<>> listed;
  for (const std::string& host : hosts) listed.emplace(rankfile::folded_name(host), host);
  std::uint32_t widest = 0;
  std::uint32_t lines = 0;
  for (const rankfile::RankLine& line : rankfile::parse_rank_lines(job.rankfile_text)) {
    ++lines;
    const auto name = listed.find(rankfile::folded_name(line.host));
    ++job.ranks_of_host[name == listed.end() ? line.host : name->second];
    if (job.cores_per_rank == 0) widest = std::max(widest, cores_of(line.slots));
  }
  if (job.cores_per_rank == 0) job.cores_per_rank = widest;
  if (job.ranks == 0) job.ranks = lines;
}

void spread_ranks(Job& job, const std::vector<std::string>& hosts) {
  if (!job.rankfile_text.empty()) return count_rankfile(job, hosts);
  if (job.dims) {
    if (job.ranks == 0) job.ranks = job.dims->world_size();
    for (const std::string& host : hosts) job.ranks_of_host[host] = job.dims->gpus_per_node;
  } else if (job.ranks > 0) {
    const auto count = static_cast<std::uint32_t>(hosts.size());
    for (const std::string& host : hosts) job.ranks_of_host[host] = (job.ranks + count - 1) / count;
  }
}

bool is_job_variable(std::string_view name) {
  constexpr std::array<std::string_view, 5> prefixes{"OMP_", "KMP_", "GOMP_", "MASTER_", "TORCH_NCCL_"};
  constexpr std::array<std::string_view, 4> names{"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "TMPDIR",
                                                  "PATH"};
  return is_mpi_setting(name) || std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// A secret's name is kept, its value never.
void keep_variable(Job& job, const std::string& name, const std::string& value) {
  job.environment[name] = is_secret_name(name) ? "" : value;
}

void add_export(std::string_view word, const Environment& environment, Job& job) {
  const auto equals = word.find('=');
  const std::string name(word.substr(0, equals));
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  if (name.empty() || name.find_first_not_of(letters) != std::string::npos) {
    throw Error(ErrorKind::usage,
                {fmt::format("-x takes the name of a variable, not \"{}\"", printable(name, 60)), "-x",
                 "-x NCCL_DEBUG -x OMP_NUM_THREADS=4"});
  }
  job.exports.push_back(name);
  const bool has_value = equals != std::string_view::npos;
  if (!has_value && environment.variables.count(name) == 0) return;  // a check reports it
  keep_variable(job, name, has_value ? std::string(word.substr(equals + 1)) : environment.get(name));
}

void read_exports(const DoctorJobOptions& options, const Environment& environment, Job& job) {
  for (const auto& [name, value] : environment.variables) {
    if (is_job_variable(name)) keep_variable(job, name, value);
  }
  for (const std::string& typed : options.exports) {
    if (typed.find('=') < typed.find(',')) {  // a value may hold commas
      add_export(typed, environment, job);
      continue;
    }
    for (const std::string_view word : split(typed, ',')) add_export(word, environment, job);
  }
}

// pbs_mom makes TMPDIR/pbs.PBS_JOBID on the first host, and on another host only when PBS starts a task there
// (OpenPBS 23.06). A process that ssh starts there does not have this TMPDIR.
bool is_tmpdir_of_scheduler(const Job& job, const Environment& environment) {
  const std::string id = environment.get("PBS_JOBID");
  const auto temporary = job.environment.find("TMPDIR");
  if (id.empty() || temporary == job.environment.end()) return false;
  const bool is_exported = std::ranges::find(job.exports, "TMPDIR") != job.exports.end();
  return !is_exported && temporary->second.find(id) != std::string::npos;
}

std::vector<std::string> choose_hosts(const Environment& environment, const std::vector<std::string>& typed,
                                      const Job& job) {
  if (!typed.empty()) return each_once(typed);
  if (!job.allocation.empty()) return each_once(job.allocation);
  auto hosts = hosts_of_rankfile(job);
  if (hosts.empty()) hosts.push_back(environment.host_name);
  return hosts;
}

}  // namespace

ExaminedJob find_job(System& system, const DoctorJobOptions& options) {
  const auto typed = topology::read_host_names(system, options.hosts, options.hostfile);
  ExaminedJob found;
  Job& job = found.job;
  if (!options.dims.empty()) job.dims = topology::parse_dims(options.dims);
  job.ranks = parse_count(options.ranks, "-n", "8", topology::max_ranks);
  job.cores_per_rank = parse_count(options.cores_per_rank, "--cores-per-rank", "4", 65536);
  job.gpus_per_host = parse_count(options.gpus, "--gpus", "4", 1024);
  job.has_whole_hosts = options.exclusive;
  job.shares_cores = options.oversubscribe;
  job.ports = parse_ports(options, system.environment);
  job.interface = options.interface;
  job.data_paths = options.data_paths;
  job.workdir = options.workdir.empty() ? system.environment.workdir : options.workdir;
  job.checkpoint_dir = options.checkpoint_dir;
  job.program = options.program;
  read_exports(options, system.environment, job);
  job.has_tmpdir_of_scheduler = is_tmpdir_of_scheduler(job, system.environment);
  job.of_submit = !system.environment.get("DDLRUN_JOB_ID").empty();
  if (!options.rankfile.empty()) {
    job.rankfile_path = options.rankfile;
    job.rankfile_text = system.files.read(options.rankfile, rankfile::max_rankfile_bytes);
  }
  set_allocation(system, options, typed, job);
  found.hosts = choose_hosts(system.environment, typed, job);
  spread_ranks(job, found.hosts);
  return found;
}

}  // namespace ddlrun::doctor
