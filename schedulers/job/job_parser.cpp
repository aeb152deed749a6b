// SPDX-License-Identifier: MIT
#include "schedulers/job/job_parser.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/job_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

using std::string_view;

// Torque and PBS Pro before 13 refuse a longer one, and qstat shows no more of it.
constexpr std::size_t longest_pbs_name = 15;
constexpr std::size_t longest_name = 64;

// Slurm starts the job in the first of several partitions that is free.
void read_queue(SettingReader& reader, JobSpec& job) {
  const auto written = reader.text("queue", "normal");
  if (!written) return;
  const auto names = split(*written, ',');
  if (names.size() < 2 ||
      !std::ranges::all_of(names, [](string_view name) { return is_name(NameKind::plain, name); })) {
    job.queue = reader.name("queue", NameKind::plain, "normal");
  } else if (is_pbs_like(job.scheduler)) {
    reader.add_error("queue",
                     fmt::format("queue {}: a list of partitions is Slurm's, a job of {} has one queue",
                                 shown(*written), scheduler_name(job.scheduler)),
                     names.front());
  } else {
    job.queue = *written;
  }
}

void read_places(SettingReader& reader, JobSpec& job) {
  constexpr auto schedulers = std::to_array<string_view>({"slurm", "pbs", "torque", "local"});
  constexpr std::array kinds{SchedulerKind::slurm, SchedulerKind::pbs, SchedulerKind::torque,
                             SchedulerKind::local};
  if (const auto at = reader.choice("scheduler", schedulers)) job.scheduler = kinds[*at];
  if (const auto site = reader.text("site", "generic-slurm")) job.site = *site;
  if (const auto name = reader.name("name", NameKind::job, "alexnet"); !name.empty()) job.name = name;
  read_queue(reader, job);
  job.account = reader.name("account", NameKind::plain, "my_account");
  job.project = reader.name("project", NameKind::plain, "my_project");
  job.application = reader.name("application", NameKind::plain, "caffe");
  job.qos = reader.name("qos", NameKind::plain, "normal");
  job.reservation = reader.name("reservation", NameKind::plain, "my_reservation");
}

void read_amounts(SettingReader& reader, JobSpec& job) {
  constexpr std::uint32_t most = 4096;
  job.cores_per_node = reader.number("cores_per_node", 1, most, "68").value_or(0);
  job.hardware_threads_per_core = reader.number("hardware_threads_per_core", 1, 16, "4").value_or(1);
  job.reserved_cores = reader.number("reserved_cores", 0, most, "8").value_or(0);
  job.threads = reader.number("threads", 1, most, "16").value_or(0);
  job.gpu_type = reader.name("gpu_type", NameKind::plain, "v100");
  job.constraint = reader.name("constraint", NameKind::resource, "knl");
  job.exclusive = reader.yes_no("exclusive").value_or(true);
  job.walltime_seconds = reader.seconds("walltime").value_or(0);
  if (const auto written = reader.text("memory", "64GiB")) {
    const auto bytes = parse_memory(*written);
    if (!bytes) {
      const bool bare = written->find_first_not_of("0123456789") == std::string::npos;
      const std::string shown = printable(*written, 60);
      reader.add_error(
          "memory",
          fmt::format("memory '{}': {}", shown,
                      bare ? "MiB for Slurm, bytes for PBS; it needs a unit" : "not an amount of memory"),
          bare ? shown + "MiB" : std::string("64GiB   # K, M, G or T, and whole numbers"));
    }
    job.memory_bytes = bytes.value_or(0);
  }
}

void read_ways(SettingReader& reader, JobSpec& job) {
  constexpr auto orders = std::to_array<string_view>({"ddl", "packed"});
  constexpr auto runners = std::to_array<string_view>({"ddlrun", "srun", "none"});
  constexpr auto levels = std::to_array<string_view>({"off", "warn", "stop"});
  constexpr auto affinities = std::to_array<string_view>({"auto", "off", "libgomp", "libomp"});
  constexpr auto frameworks =
      std::to_array<string_view>({"auto", "none", "ddl", "caffe-ddl", "intel-caffe", "horovod", "pytorch",
                                  "tensorflow", "tensorflow-ps"});
  constexpr std::array runner_kinds{Runner::ddlrun, Runner::srun, Runner::none};
  constexpr std::array level_kinds{DoctorLevel::off, DoctorLevel::warn, DoctorLevel::stop};
  if (const auto at = reader.choice("order", orders)) {
    job.order = *at == 0 ? topology::RankOrder::ddl : topology::RankOrder::packed;
  }
  if (const auto at = reader.choice("runner", runners)) job.runner = runner_kinds[*at];
  if (const Setting* mpi = reader.find("srun_mpi"); mpi != nullptr) {
    const bool left_out = mpi->value.kind == YamlValue::Kind::scalar && mpi->value.text.empty();
    job.srun_mpi = left_out ? "" : reader.name("srun_mpi", NameKind::plain, "pmix");
  }
  if (const auto at = reader.choice("doctor", levels)) job.doctor = level_kinds[*at];
  if (const auto at = reader.choice("affinity", affinities)) job.affinity = affinities[*at];
  if (const auto at = reader.choice("framework", frameworks)) job.framework = frameworks[*at];
}

}  // namespace

std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

bool has_error_at(const ParsedJob& parsed, const std::string& where) {
  return !where.empty() && std::any_of(parsed.errors.begin(), parsed.errors.end(),
                                       [&](const Message& error) { return error.where == where; });
}

ParsedJob read_job(const JobSettings& settings, std::optional<std::uint64_t> nodes_there) {
  ParsedJob parsed;
  SettingReader reader(settings, parsed.errors);
  JobSpec& job = parsed.job;
  job.workdir = reader.path("workdir", "", "/scratch/me/run");
  read_places(reader, job);
  read_amounts(reader, job);
  read_ways(reader, job);
  read_passed_options(reader, job);
  job.script_template = reader.path("template", job.workdir, "my-job.sh");
  read_job_environment(reader, job);
  read_program(reader, job);
  if (reader.find("name") == nullptr)
    job.name = job_name_of(job.program, is_pbs_like(job.scheduler) ? longest_pbs_name : longest_name);
  read_lifecycle(reader, job);
  if (read_shape(reader, parsed)) plan_threads(reader, parsed, nodes_there);
  check_combinations(reader, parsed);
  parsed.errors = sorted_by_place(std::move(parsed.errors));
  return parsed;
}

}  // namespace ddlrun::schedulers
