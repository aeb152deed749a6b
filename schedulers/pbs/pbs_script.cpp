// SPDX-License-Identifier: MIT
// The directives of OpenPBS (select and place) and of Torque (nodes and ppn). Never -V: it would show the
// whole environment to everybody who queries the job.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/script_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

std::string pbs_name(std::string_view text, std::string_view key) {
  return directive_value(ValueKind::name, text, key);
}

[[noreturn]] void refuse_pbs(std::string what, std::string where, std::string hint) {
  throw Error(ErrorKind::request, {std::move(what), std::move(where), std::move(hint)});
}

// Cores of a node that the job asks for.
std::uint32_t cores_asked(const JobSpec& job) {
  if (job.cores_per_node > 0) return job.cores_per_node;
  return job.ranks_per_node() * std::max(1u, job.threads);
}

// PBS sets OMP_NUM_THREADS to this, and to all of ncpus where it is missing.
std::uint32_t threads_asked(const JobSpec& job) {
  if (job.threads > 0) return job.threads;
  return std::max(1u, cores_asked(job) / std::max(1u, job.ranks_per_node()));
}

// A word of a chunk: '+' would begin another chunk, '@' another server.
std::string chunk_value(std::string_view text, std::string_view key) {
  const std::string value = pbs_name(text, key);
  if (value.find_first_of("+@") == std::string::npos) return value;
  refuse_pbs(fmt::format("{}: '{}' holds a '+' or '@', which begin another chunk or server", key, value),
             std::string(key), "constraint: cpu_type=knl");
}

// "cpu_type=knl", several joined by ':'; none of those that the shape sets.
std::string chunk_resources(const std::string& text) {
  constexpr std::array taken{"ncpus", "mpiprocs", "ompthreads", "ngpus", "gpu_type", "mem", "host"};
  for (const std::string_view part : split(text, ':')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    if (equals == std::string_view::npos || std::find(taken.begin(), taken.end(), name) != taken.end()) {
      refuse_pbs(fmt::format("constraint: '{}' is no resource of a chunk of its own", printable(part, 60)),
                 "constraint", "constraint: cpu_type=knl");
    }
    chunk_value(name, "constraint");
    chunk_value(part.substr(equals + 1), "constraint");
  }
  return text;
}

std::string chunk(const JobSpec& job) {
  std::string text = fmt::format("ncpus={}:mpiprocs={}:ompthreads={}", cores_asked(job), job.ranks_per_node(),
                                 threads_asked(job));
  if (job.gpus_per_node > 0) text += fmt::format(":ngpus={}", job.gpus_per_node);
  if (!job.gpu_type.empty()) text += ":gpu_type=" + chunk_value(job.gpu_type, "gpu_type");
  if (job.memory_bytes > 0) text += ":mem=" + render_memory(job.memory_bytes, "mb", "gb");
  if (!job.constraint.empty()) text += ":" + chunk_resources(job.constraint);
  return text;
}

std::string select_of(const JobSpec& job) {
  if (job.hosts.empty()) return fmt::format("{}:{}", job.nodes(), chunk(job));
  std::vector<std::string> chunks;
  for (const std::string& host : job.hosts)
    chunks.push_back("1:" + chunk(job) + ":host=" + directive_value(ValueKind::hosts, host, "hosts"));
  return join(chunks, "+");
}

// "n1:ppn=8+n2:ppn=8" or "2:ppn=8", each with GPUs and property.
std::string torque_nodes(const JobSpec& job) {
  std::string tail = fmt::format(":ppn={}", cores_asked(job));
  if (job.gpus_per_node > 0) tail += fmt::format(":gpus={}", job.gpus_per_node);
  if (!job.constraint.empty()) {
    tail = ":" + chunk_value(job.constraint, "constraint") + tail;
  }
  if (job.hosts.empty()) return std::to_string(job.nodes()) + tail;
  std::vector<std::string> parts;
  for (const std::string& host : job.hosts)
    parts.push_back(directive_value(ValueKind::hosts, host, "hosts") + tail);
  return join(parts, "+");
}

void check_pbs_path(std::string path, bool array) {
  if (const std::size_t task = array ? path.find("%a") : path.npos; task != path.npos) path.erase(task, 2);
  if (path.find_first_of("%:,") == std::string::npos) return;
  refuse_pbs(fmt::format("output: PBS would not take '{}' for a path", printable(path, 80)), "output",
             "a path without ':', ',' and '%' (of an array, %a is the task)");
}

// What PBS caught itself is brought at the end, over what stands there: not the log, which the script writes.
// Its host:path must not come about by accident; Torque adds the task of an array to the name itself.
std::string pbs_spool(const JobSpec& job, const JobDirectory& dir, bool torque) {
  check_pbs_path(output_path(job, dir), job.array.has_value());
  const std::string path = directive_value(ValueKind::path, dir.spool(), "the job's directory");
  check_pbs_path(path, false);
  return job.array && !torque ? dir.path + "/scheduler.^array_index^.log" : path;
}

std::string pbs_dependencies(const JobSpec& job) {
  std::vector<std::string> parts;
  for (const Dependency& dependency : job.dependencies) {
    parts.push_back(pbs_name(dependency.kind, "dependency") + ":" +
                    directive_value(ValueKind::job_id, dependency.job, "dependency"));
  }
  return join(parts, ",");
}

void check_pbs_array(const JobSpec& job) {
  if (!job.array) return;
  if (job.requeue.wanted)
    refuse_pbs("PBS cannot start one task of an array again", "requeue", "requeue: no, or jobs of their own");
}

// Torque counts an array without steps, so each task is named.
std::string torque_array(const ArrayRange& array) {
  ArrayRange plain = array;
  plain.step = 1;
  if (array.step <= 1) return render_array(plain);
  std::vector<std::string> tasks;
  for (std::uint64_t task = array.first; task <= array.last; task += array.step) {
    tasks.push_back(std::to_string(task));
    if (tasks.size() > 1000)
      refuse_pbs("an array with a step of more than 1000 tasks", "array", "array: 0-999");
  }
  return join(tasks, ",") + (array.max_parallel > 0 ? fmt::format("%{}", array.max_parallel) : "");
}

void add_payer(std::vector<std::string>& lines, const JobSpec& job, const templates::SiteProfile& site) {
  if (!job.account.empty()) lines.push_back("-A " + pbs_name(job.account, "account"));
  if (job.application.empty()) return;
  const std::string directive = application_directive(job, site, "-A {}");
  if (!job.account.empty() && directive.starts_with("-A")) {
    refuse_pbs("account and application both want -A", "application",
               "one of the two, or a profile with another application_directive");
  }
  lines.push_back(directive);
}

void add_pbs_life(std::vector<std::string>& lines, const JobSpec& job, const JobDirectory& dir, bool torque) {
  check_pbs_array(job);
  if (job.array)
    lines.push_back(torque ? "-t " + torque_array(*job.array) : "-J " + render_pbs_array(*job.array));
  if (!job.dependencies.empty()) lines.push_back("-W depend=" + pbs_dependencies(job));
  if (!job.mail.empty()) {
    lines.push_back("-M " + directive_value(ValueKind::mail, job.mail, "mail"));
    lines.push_back("-m " + pbs_mail_points(job.mail_events));
  }
  lines.emplace_back("-j oe");
  lines.push_back("-o " + pbs_spool(job, dir, torque));
  // An array must be rerunnable.
  lines.emplace_back(job.requeue.wanted || job.array ? "-r y" : "-r n");
  std::vector<std::string> names;  // values that hold commas would not survive: the script sets them itself
  for (const std::string& entry : job.environment) {
    if (is_wildcard(entry)) continue;
    const std::string name = variable_name(entry);
    // qsub refuses a name that has no value.
    const bool by_name = entry.find('=') == std::string::npos &&
                         std::ranges::find(job.unset_names, name) == job.unset_names.end();
    if (by_name && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (!names.empty()) lines.push_back("-v " + join(names, ","));
}

void refuse_slurm_words(const JobSpec& job) {
  if (!job.qos.empty())
    refuse_pbs("PBS has no qos", "qos", "the queue that gives it, or a line under directives");
  if (job.runner == Runner::srun) refuse_pbs("srun is Slurm's", "runner", "runner: ddlrun");
  if (job.signal.before_seconds > 0 && job.walltime_seconds <= job.signal.before_seconds) {
    refuse_pbs(
        fmt::format("a signal {} s ahead of a walltime of {} s: PBS has none itself, the script counts",
                    job.signal.before_seconds, job.walltime_seconds),
        "signal", "a walltime that is longer");
  }
}

Script begin(const JobSpec& job) {
  refuse_slurm_words(job);
  Script script;
  script.sentinel = "#PBS";
  script.directives.push_back("-N " + directive_value(ValueKind::job_name, job.name, "name"));
  return script;
}

void finish(Script& script, const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site) {
  for (const std::string& line : site.directives)
    script.directives.push_back(verbatim_directive(line, site.file));
  for (const std::string& line : job.directives)
    script.directives.push_back(verbatim_directive(line, "directives"));
  script.body = render_body(job, dir, site.preamble);
}

}  // namespace

// OpenPBS 23.06 refuses "2-2"; of "2-3:2" it makes the one task 2.
std::string render_pbs_array(ArrayRange array) {
  if (array.first == array.last) {
    array.last = array.first + 1;
    array.step = 2;
  }
  return render_array(array);
}

std::string pbs_mail_points(const std::string& events) {
  std::string letters;
  const std::string wanted = events.empty() ? "end,fail" : events;
  for (const std::string_view event : split(wanted, ',')) {
    if (event != "begin" && event != "end" && event != "fail") {
      refuse_pbs(fmt::format("mail_events: '{}' is no event", printable(event, 40)), "mail_events",
                 "of begin, end, fail, joined by commas");
    }
    const char letter = event == "fail" ? 'a' : event[0];
    if (letters.find(letter) == std::string::npos) letters += letter;
  }
  return letters;
}

Script render_pbs(const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site) {
  Script script = begin(job);
  std::vector<std::string>& lines = script.directives;
  lines.push_back("-l select=" + select_of(job));
  lines.emplace_back(job.exclusive ? "-l place=scatter:excl" : "-l place=scatter");
  if (job.walltime_seconds > 0) lines.push_back("-l walltime=" + render_walltime(job.walltime_seconds));
  // A reservation of PBS is a queue.
  if (!job.reservation.empty() && !job.queue.empty())
    refuse_pbs("a reservation of PBS is a queue, and a queue is given too", "reservation", "one of the two");
  const std::string& queue = job.reservation.empty() ? job.queue : job.reservation;
  if (!queue.empty()) lines.push_back("-q " + pbs_name(queue, "queue"));
  add_payer(lines, job, site);
  if (!job.project.empty()) lines.push_back("-P " + pbs_name(job.project, "project"));
  add_pbs_life(lines, job, dir, false);
  finish(script, job, dir, site);
  return script;
}

Script render_torque(const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site) {
  if (!job.reservation.empty()) {
    refuse_pbs("Torque has no directive for a reservation: its scheduler's own is needed", "reservation",
               "directives: [\"-W x=FLAGS:ADVRES:NAME\"] with Moab or Maui");
  }
  if (!job.project.empty()) refuse_pbs("Torque has no project", "project", "account");
  if (!job.gpu_type.empty())
    refuse_pbs("Torque requests GPUs by number only", "gpu_type", "constraint: a property");
  Script script = begin(job);
  std::vector<std::string>& lines = script.directives;
  lines.push_back("-l nodes=" + torque_nodes(job));
  // mem is the whole job's where it has one node only; of several, each process has its part.
  const std::uint32_t parts = job.nodes() > 1 ? cores_asked(job) : 1;
  if (job.memory_bytes > 0) {
    lines.push_back(fmt::format("-l {}={}", parts > 1 ? "pmem" : "mem",
                                render_memory((job.memory_bytes + parts - 1) / parts, "mb", "gb")));
  }
  if (job.walltime_seconds > 0) lines.push_back("-l walltime=" + render_walltime(job.walltime_seconds));
  if (!job.queue.empty()) lines.push_back("-q " + pbs_name(job.queue, "queue"));
  add_payer(lines, job, site);
  add_pbs_life(lines, job, dir, true);
  finish(script, job, dir, site);
  return script;
}

}  // namespace ddlrun::schedulers
