// SPDX-License-Identifier: MIT
// The neutral request -> #SBATCH options.
#include "base/text/text.hpp"
#include "schedulers/scripts/request_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

class SlurmWriter final : public RequestWriter {
 public:
  explicit SlurmWriter(const ResourceRequest& request) : RequestWriter(request) {}

 private:
  void write_names() override;
  void write_shape() override;
  void write_cores(std::uint64_t cores, std::uint64_t tasks);
  void write_chunk(const Chunk& chunk);
  void write_unlike_chunks();
  void write_packed_chunks();
  std::string file_pattern(std::string path);
  void write_memory(std::uint64_t bytes);
  void write_files() override;
  void write_life() override;
  void write_mail();
  void write_begin();
  void write_dependencies();
  void write_export();
  // Slurm reads quotes in directives; blanks and '#' need them.
  void put(std::string_view option, std::string_view value) {
    const bool plain = value.find_first_of(" \t#'\"\\") == std::string_view::npos;
    if (plain) {
      result_.directives.push_back(fmt::format("{}={}", option, value));
      return;
    }
    std::string quoted;
    for (const char c : value) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    result_.directives.push_back(fmt::format("{}=\"{}\"", option, quoted));
  }
  void put_given(std::string_view option, const std::string& value) {
    if (!value.empty()) put(option, value);
  }
  void put_number(std::string_view option, std::uint64_t value) {
    result_.directives.push_back(fmt::format("{}={}", option, value));
  }
  void leave(std::string text, std::string why) {
    result_.unsupported.push_back({request_.select_line, std::move(text), std::move(why)});
  }
};

void SlurmWriter::write_names() {
  put_given("--job-name", request_.name);
  put_given("--partition", request_.queue);
  put_given("--account", request_.account);
  put_given("--wckey", request_.project);
  put_given("--qos", request_.qos);
  put_given("--reservation", request_.reservation);
  put_given("--comment", request_.comment);
  put_given("--constraint", request_.constraint);
}

void SlurmWriter::write_memory(std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t mib = (bytes + (1u << 20) - 1) >> 20;
  if (mib % 1024 == 0) {
    put("--mem", fmt::format("{}G", mib / 1024));
  } else {
    put("--mem", fmt::format("{}M", mib));
  }
}

// Each task has the same number of cores. Where they do not part evenly, --mincpus beside it does not reserve
// the rest: Slurm 22.05 allocates 6 of --mincpus=7 with 2 tasks of 3, and 24.11 refuses the job. So the
// number is rounded up, but for whole nodes, which have all their cores anyway.
void SlurmWriter::write_cores(std::uint64_t cores, std::uint64_t tasks) {
  const std::uint64_t least = std::max<std::uint64_t>(1, cores / tasks);
  const bool even = cores <= tasks || cores % tasks == 0;
  const std::uint64_t each = even || request_.exclusive ? least : least + 1;
  put_number("--cpus-per-task", each);
  if (even) return;
  std::string text = fmt::format("ncpus={}:mpiprocs={}", cores, tasks);
  leave(std::move(text),
        request_.exclusive
            ? fmt::format("{} cores do not divide evenly among {} ranks: each gets {}, the rest stay idle",
                          cores, tasks, each)
            : fmt::format(
                  "{} cores do not divide evenly among {} ranks: each gets {}, {} in all; where a node has "
                  "fewer, --cpus-per-task={} takes {}",
                  cores, tasks, each, each * tasks, least, least * tasks));
}

void SlurmWriter::write_chunk(const Chunk& chunk) {
  const std::uint64_t tasks = std::max<std::uint64_t>(1, chunk.tasks);
  const bool packed = request_.spread == Spread::pack;
  const std::uint64_t per_node = packed ? tasks * chunk.nodes : tasks;
  const std::uint64_t cores = packed ? chunk.cores * chunk.nodes : chunk.cores;
  put_number("--nodes", packed ? 1 : chunk.nodes);
  put_number("--ntasks-per-node", per_node);
  if (cores > 0) write_cores(cores, per_node);
  if (chunk.gpus > 0) {
    const std::string type = chunk.gpu_type.empty() ? "" : chunk.gpu_type + ":";
    put("--gpus-per-node", fmt::format("{}{}", type, packed ? chunk.gpus * chunk.nodes : chunk.gpus));
  }
  write_memory(packed ? chunk.memory * chunk.nodes : chunk.memory);
}

// All chunks on one host.
void SlurmWriter::write_packed_chunks() {
  Chunk sum;
  sum.tasks = task_count(request_);
  for (const Chunk& chunk : request_.chunks) {
    sum.cores += chunk.nodes * chunk.cores;
    sum.gpus += chunk.nodes * chunk.gpus;
    sum.memory += chunk.nodes * chunk.memory;
    if (sum.gpu_type.empty()) sum.gpu_type = chunk.gpu_type;
  }
  write_chunk(sum);
}

// One Slurm allocation has nodes of one kind: on each as many tasks and cores as the largest chunk has.
void SlurmWriter::write_unlike_chunks() {
  Chunk most;
  const std::uint64_t nodes = node_count(request_), wanted = core_count(request_);
  std::vector<std::string> ranks;
  for (const Chunk& chunk : request_.chunks) {
    const std::uint64_t each = std::max<std::uint64_t>(1, chunk.tasks);
    ranks.push_back(chunk.nodes == 1 ? fmt::format("{}", each) : fmt::format("{}x{}", chunk.nodes, each));
    most.tasks = std::max(most.tasks, each);
    most.cores = std::max({most.cores, chunk.cores, each});
    most.gpus = std::max(most.gpus, chunk.gpus);
    most.memory = std::max(most.memory, chunk.memory);
    if (most.gpu_type.empty()) most.gpu_type = chunk.gpu_type;
  }
  put_number("--nodes", nodes);
  put_number("--ntasks-per-node", most.tasks);
  const std::uint64_t cores_per_task = (most.cores + most.tasks - 1) / most.tasks;
  put_number("--cpus-per-task", cores_per_task);
  if (most.gpus > 0)
    put("--gpus-per-node", fmt::format("{}{}", most.gpu_type.empty() ? "" : most.gpu_type + ":", most.gpus));
  write_memory(most.memory);
  if (!has_unlike_chunks(request_)) return;
  leave(fmt::format("{} chunks that differ", request_.chunks.size()),
        fmt::format(
            "one Slurm allocation has nodes of one kind: {} nodes of {} cores, {} cores instead of {}; "
            "the {} ranks ({}) are the node file's to place: mpirun with -n {} and --hostfile; \"#SBATCH "
            "hetjob\" makes parts that differ",
            nodes, most.tasks * cores_per_task, nodes * most.tasks * cores_per_task, wanted,
            task_count(request_), join(ranks, "+"), task_count(request_)));
}

void SlurmWriter::write_shape() {
  if (request_.chunks.empty()) return;
  if (request_.style == Style::cores_only) {
    write_chunk(request_.chunks.front());
  } else if (request_.chunks.size() == 1) {
    const Chunk& chunk = request_.chunks.front();
    write_chunk(chunk);
    if (request_.spread == Spread::unspecified && request_.style == Style::select && chunk.nodes > 1)
      leave("no -l place=scatter",
            fmt::format("PBS may have put all {0} chunks on one host; --nodes={0} puts them on {0}",
                        chunk.nodes));
  } else if (request_.spread == Spread::pack) {
    write_packed_chunks();
  } else {
    write_unlike_chunks();
  }
  std::vector<std::string> hosts;
  for (const Chunk& chunk : request_.chunks) {
    if (!chunk.host.empty()) hosts.push_back(chunk.host);
    for (const auto& [key, value] : chunk.others)
      leave(value.empty() ? key : key + "=" + value,
            "a resource of that site: --constraint, --gres or --licenses here, as this centre names it");
  }
  if (!hosts.empty()) put("--nodelist", join(hosts, ","));
  put_given("--nodelist", request_.hosts);
  put_given("--exclude", request_.not_hosts);
  if (request_.exclusive) result_.directives.emplace_back("--exclusive");
}

// Names of PBS as sbatch's patterns; it expands no variables.
std::string SlurmWriter::file_pattern(std::string path) {
  for (const std::string dir : {"$PBS_O_WORKDIR/", "${PBS_O_WORKDIR}/"})
    if (path.starts_with(dir) && request_.dir.empty()) path.erase(0, dir.size());  // its usual place
  const std::string id = request_.array ? "%A" : "%j";
  const std::pair<std::string, std::string> names[] = {
      {"$PBS_JOBID", id},       {"${PBS_JOBID}", id},       {"$PBS_JOBNAME", "%x"},
      {"${PBS_JOBNAME}", "%x"}, {"$PBS_ARRAY_INDEX", "%a"}, {"${PBS_ARRAY_INDEX}", "%a"},
      {"$PBS_ARRAYID", "%a"},   {"${PBS_ARRAYID}", "%a"},   {"^array_index^", "%a"}};
  for (const auto& [name, pattern] : names)
    for (std::size_t at = 0; (at = path.find(name, at)) != std::string::npos; at += pattern.size())
      path.replace(at, name.size(), pattern);
  if (path.find('$') != std::string::npos)
    result_.unsupported.push_back(
        {0, path, "sbatch expands no variables in its options: write the path out", true});
  return path;
}

// Where PBS would write: NAME.oN and NAME.eN where the job was handed in.
void SlurmWriter::write_files() {
  const std::string job = request_.array ? "%A.%a" : "%j";
  const auto file = [&](const std::string& given, char kind) {
    const std::string usual = fmt::format("%x.{}{}", kind, job);
    if (given.empty()) return usual;
    const std::string path = file_pattern(given);
    return path.ends_with('/') ? path + usual : path;
  };
  put("--output", file(request_.output, 'o'));
  if (!request_.join) put("--error", file(request_.error, 'e'));
  if (request_.requeue.value_or(false) || request_.append) put("--open-mode", "append");
}

void SlurmWriter::write_mail() {
  put_given("--mail-user", request_.mail_user);
  std::vector<std::string> events;
  if (request_.mail_begin) events.emplace_back("BEGIN");
  if (request_.mail_end) events.emplace_back("END");
  if (request_.mail_fail) events.emplace_back("FAIL");
  if (events.empty() && request_.mail_none) events.emplace_back("NONE");
  if (events.empty() && !request_.mail_user.empty()) events.emplace_back("FAIL");  // PBS mails at an abort
  if (!events.empty()) put("--mail-type", join(events, ","));
}

// "202611211230.00" -> "2026-11-21T12:30:00"; "1230" -> "12:30"
void SlurmWriter::write_begin() {
  const std::string& text = request_.begin;
  if (text.empty()) return;
  const std::string digits = text.substr(0, text.find('.'));
  const std::string seconds = digits.size() == text.size() ? "00" : text.substr(digits.size() + 1);
  const bool good = parse_unsigned(digits).has_value() && parse_unsigned(seconds, 59).has_value();
  if (good && digits.size() == 4) {
    put("--begin", fmt::format("{}:{}", digits.substr(0, 2), digits.substr(2)));
  } else if (good && (digits.size() == 12 || digits.size() == 10)) {
    const std::string full = digits.size() == 10 ? "20" + digits : digits;
    put("--begin", fmt::format("{}-{}-{}T{}:{}:{:0>2}", full.substr(0, 4), full.substr(4, 2),
                               full.substr(6, 2), full.substr(8, 2), full.substr(10, 2), seconds));
  } else {
    leave("-a " + text, "a date without its year: --begin=YYYY-MM-DDTHH:MM");
  }
}

void SlurmWriter::write_dependencies() {
  std::vector<std::string> kept;
  for (const auto& [kind, jobs] : request_.dependencies) {
    if (kind != "after" && kind != "afterok" && kind != "afternotok" && kind != "afterany") {
      leave(fmt::format("-W depend={}:{}", kind, jobs),
            "Slurm supports after, afterok, afternotok and afterany");
      continue;
    }
    std::vector<std::string> ids;
    for (const std::string_view id : split(jobs, ':')) ids.emplace_back(id.substr(0, id.find('.')));
    kept.push_back(kind + ":" + join(ids, ":"));
    leave(fmt::format("-W depend={}:{}", kind, jobs),
          "the job ids are those of PBS: put Slurm's in their place");
  }
  if (!kept.empty()) put("--dependency", join(kept, ","));
}

void SlurmWriter::write_export() {
  if (request_.exported == Export::all)
    put("--export", request_.export_list.empty() ? "ALL" : "ALL," + request_.export_list);
  if (request_.exported == Export::list)
    put("--export", request_.export_list.empty() ? "ALL" : "ALL," + request_.export_list);
}

void SlurmWriter::write_life() {
  if (request_.walltime_seconds > 0) put("--time", render_time(request_.walltime_seconds));
  if (request_.array) {
    const ArrayText& array = *request_.array;
    put("--array", array.max_parallel.empty() ? array.range : array.range + "%" + array.max_parallel);
  }
  write_dependencies();
  write_mail();
  if (request_.requeue) result_.directives.emplace_back(*request_.requeue ? "--requeue" : "--no-requeue");
  if (request_.hold) result_.directives.emplace_back("--hold");
  if (request_.block) result_.directives.emplace_back("--wait");
  write_begin();
  put_given("--chdir", request_.dir);
  put_given("--signal", request_.signal);
  if (request_.priority && *request_.priority < 0) put("--nice", fmt::format("{}", -*request_.priority));
  if (request_.priority && *request_.priority > 0)
    leave(fmt::format("-p {}", *request_.priority), "only operators of Slurm may raise a priority");
  write_export();
}

}  // namespace

RenderedRequest render_slurm_request(const ResourceRequest& request) { return SlurmWriter(request).write(); }

}  // namespace ddlrun::job_scripts
