// SPDX-License-Identifier: MIT
// #SBATCH directives -> the neutral request.
#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"
#include "schedulers/scripts/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace ddlrun::job_scripts {

namespace {

class SlurmReader {
 public:
  ResourceRequest read(const JobScript& script);

 private:
  bool read_shape(const std::string& name, const Directive& option);
  bool read_text(const std::string& name, const std::string& value);
  bool read_gpus(const std::string& name, const Directive& option);
  bool read_life(const std::string& name, const Directive& option);
  void read_mail(std::string_view value);
  void read_export(const std::string& value);
  void read_dependencies(const Directive& option);
  void resolve_shape(const JobScript& script);
  std::uint64_t number(std::string_view text) const { return parse_unsigned(text, max_count).value_or(0); }
  void leave(const Directive& option, std::string why, bool wrong = false) {
    std::string text = option.option;
    if (!option.value.empty())
      text += (text.starts_with("--") ? "=" : text.empty() ? "" : " ") + option.value;
    request_.unsupported.push_back({option.line, std::move(text), std::move(why), wrong});
  }
  // What a job file of Slurm can keep.
  void leave_to_slurm(const Directive& option, std::string why) {
    leave(option, std::move(why));
    request_.unsupported.back().directive = directive_text(option);
  }

  ResourceRequest request_;
  std::uint64_t nodes_ = 0, tasks_per_node_ = 0, cpus_per_task_ = 0, gpus_per_task_ = 0, cpus_per_gpu_ = 0;
  std::uint64_t memory_per_gpu_ = 0, mincpus_ = 0;
  Chunk chunk_;
};

bool SlurmReader::read_shape(const std::string& name, const Directive& option) {
  const std::string& value = option.value;
  if (name == "nodes") {
    nodes_ = number(std::string_view(value).substr(0, value.find('-')));
    request_.select_line = option.line;
    if (value.find('-') != std::string::npos) leave(option, "a range of node counts: the smallest is taken");
  } else if (name == "ntasks") {
    request_.total_tasks = number(value);
    if (request_.select_line == 0) request_.select_line = option.line;
  } else if (name == "ntasks-per-node") {
    tasks_per_node_ = number(value);
  } else if (name == "cpus-per-task") {
    cpus_per_task_ = number(value);
  } else if (name == "mincpus") {
    mincpus_ = number(value);
  } else if (name == "mem") {
    chunk_.memory = parse_slurm_size(value).value_or(0);
    if (chunk_.memory == 0) leave_to_slurm(option, "all of a node's memory: PBS has no option for it");
  } else if (name == "mem-per-cpu") {
    request_.memory_per_core = parse_slurm_size(value).value_or(0);
  } else if (name == "mem-per-gpu") {
    memory_per_gpu_ = parse_slurm_size(value).value_or(0);
  } else if (name == "cpus-per-gpu") {
    cpus_per_gpu_ = number(value);
  } else if (name == "exclusive") {
    request_.exclusive = true;
  } else if (name == "oversubscribe" || name == "share") {
    request_.shared = true;
  } else {
    return false;
  }
  return true;
}

// "gpu:a100:4" or "4"; the type, if there is one, and the number.
std::uint64_t read_gpu_words(std::string_view text, std::string& type) {
  const auto words = split(text, ':');
  if (words.size() == 2) type = std::string(words[0]);
  return parse_unsigned(words.back(), max_count).value_or(0);
}

bool SlurmReader::read_gpus(const std::string& name, const Directive& option) {
  if (name == "gpus-per-node") {
    chunk_.gpus = read_gpu_words(option.value, chunk_.gpu_type);
  } else if (name == "gpus") {
    request_.total_gpus = read_gpu_words(option.value, chunk_.gpu_type);
  } else if (name == "gpus-per-task") {
    gpus_per_task_ = read_gpu_words(option.value, chunk_.gpu_type);
    leave(option,
          "under Slurm a rank saw its own GPUs only; here it sees all of its node and has to pick by "
          "$OMPI_COMM_WORLD_LOCAL_RANK");
  } else if (name == "gres") {
    for (const std::string_view item : split(option.value, ',')) {
      if (item == "gpu") {
        chunk_.gpus = 1;
      } else if (item.starts_with("gpu:")) {
        chunk_.gpus = read_gpu_words(item.substr(4), chunk_.gpu_type);
      } else if (item != "none") {
        leave_to_slurm(option, "a generic resource: PBS needs the site's own name for it in select");
        request_.unsupported.back().directive = directive_text({"--gres", std::string(item)});
      }
    }
  } else {
    return false;
  }
  return true;
}

bool SlurmReader::read_text(const std::string& name, const std::string& value) {
  static const std::map<std::string, std::string ResourceRequest::*> texts = {
      {"job-name", &ResourceRequest::name},
      {"partition", &ResourceRequest::queue},
      {"account", &ResourceRequest::account},
      {"wckey", &ResourceRequest::project},
      {"qos", &ResourceRequest::qos},
      {"reservation", &ResourceRequest::reservation},
      {"comment", &ResourceRequest::comment},
      {"constraint", &ResourceRequest::constraint},
      {"nodelist", &ResourceRequest::hosts},
      {"exclude", &ResourceRequest::not_hosts},
      {"output", &ResourceRequest::output},
      {"error", &ResourceRequest::error},
      {"mail-user", &ResourceRequest::mail_user},
      {"begin", &ResourceRequest::begin},
      {"chdir", &ResourceRequest::dir},
      {"signal", &ResourceRequest::signal}};
  const auto found = texts.find(name);
  if (found == texts.end()) return false;
  request_.*(found->second) = value;
  return true;
}

void SlurmReader::read_mail(std::string_view value) {
  for (const std::string_view word : split(value, ',')) {
    const bool all = word == "ALL";
    request_.mail_begin = request_.mail_begin || all || word == "BEGIN";
    request_.mail_end = request_.mail_end || all || word == "END";
    request_.mail_fail = request_.mail_fail || all || word == "FAIL" || word.starts_with("TIME_LIMIT");
    request_.mail_none = request_.mail_none || word == "NONE";
  }
}

void SlurmReader::read_export(const std::string& value) {
  if (value == "NONE" || value == "NIL") {
    request_.exported = Export::none;
  } else if (value == "ALL") {
    request_.exported = Export::all;
  } else if (value.starts_with("ALL,")) {
    request_.exported = Export::all;
    request_.export_list = value.substr(4);
  } else {
    request_.exported = Export::list;
    request_.export_list = value;
  }
}

void SlurmReader::read_dependencies(const Directive& option) {
  for (const std::string_view item : split(option.value, ',')) {
    const std::size_t colon = item.find(':');
    const std::string kind(item.substr(0, colon));
    if (colon == std::string_view::npos || item.find_first_of("?+") != std::string_view::npos) {
      leave(option, "a dependency that PBS does not support");
    } else {
      request_.dependencies.emplace_back(kind, std::string(item.substr(colon + 1)));
    }
  }
}

bool SlurmReader::read_life(const std::string& name, const Directive& option) {
  const std::string& value = option.value;
  if (name == "time") {
    request_.walltime_seconds = parse_slurm_time(value).value_or(0);
    if (request_.walltime_seconds == 0) leave(option, "no start time that PBS supports");
  } else if (name == "array") {
    const std::size_t percent = value.find('%');
    request_.array =
        ArrayText{value.substr(0, percent), percent == std::string::npos ? "" : value.substr(percent + 1)};
  } else if (name == "dependency") {
    read_dependencies(option);
  } else if (name == "mail-type") {
    read_mail(value);
  } else if (name == "export") {
    read_export(value);
  } else if (name == "requeue" || name == "no-requeue") {
    request_.requeue = name == "requeue";
  } else if (name == "hold") {
    request_.hold = true;
  } else if (name == "wait") {
    request_.block = true;
  } else if (name == "open-mode") {
    request_.append = value.starts_with('a');
  } else if (name == "nice") {
    request_.priority = -static_cast<std::int64_t>(value.empty() ? 100 : number(value));
  } else if (name == "parsable" || name == "quiet" || name == "verbose") {
  } else {
    return false;
  }
  return true;
}

// Slurm allows many forms of the same shape; here it becomes nodes with tasks of some cores each.
void SlurmReader::resolve_shape(const JobScript& script) {
  const auto omp = script.exports.find("OMP_NUM_THREADS");
  const std::uint64_t threads = omp == script.exports.end() ? 0 : number(omp->second.text);
  if (nodes_ == 0 && tasks_per_node_ == 0 && request_.total_tasks > 0) {
    // Tasks anywhere: chunks of one task each.
    chunk_.nodes = request_.total_tasks;
    chunk_.tasks = 1;
    request_.spread = Spread::unspecified;
    request_.select_line = std::max(request_.select_line, 0);
  } else {
    chunk_.nodes = std::max<std::uint64_t>(1, nodes_);
    if (nodes_ == 0 && tasks_per_node_ > 0 && request_.total_tasks > 0)
      chunk_.nodes = (request_.total_tasks + tasks_per_node_ - 1) / tasks_per_node_;
    chunk_.tasks = tasks_per_node_;
    request_.spread = nodes_ > 0 || chunk_.nodes > 1 ? Spread::scatter : Spread::unspecified;
  }
  const bool uneven = nodes_ > 0 && tasks_per_node_ == 0 && request_.total_tasks > 0;
  const std::uint64_t rest = uneven ? request_.total_tasks % nodes_ : 0;
  if (uneven) chunk_.tasks = request_.total_tasks / nodes_;
  if (chunk_.tasks == 0) chunk_.tasks = 1;
  const auto finish = [&](Chunk chunk) {
    const std::uint64_t per_task = std::max<std::uint64_t>(1, cpus_per_task_);
    if (chunk.gpus == 0 && gpus_per_task_ > 0) chunk.gpus = gpus_per_task_ * chunk.tasks;
    if (chunk.gpus == 0 && request_.total_gpus > 0)
      chunk.gpus = (request_.total_gpus + chunk_.nodes - 1) / chunk_.nodes;
    chunk.cores = std::max({chunk.tasks * per_task, mincpus_, cpus_per_gpu_ * chunk.gpus});
    chunk.threads = threads > 0 ? threads : per_task;
    if (chunk.memory == 0 && request_.memory_per_core > 0)
      chunk.memory = request_.memory_per_core * chunk.cores;
    if (chunk.memory == 0 && memory_per_gpu_ > 0) chunk.memory = memory_per_gpu_ * chunk.gpus;
    return chunk;
  };
  if (rest > 0) {
    Chunk more = chunk_;
    more.nodes = rest;
    ++more.tasks;
    request_.chunks.push_back(finish(more));
    chunk_.nodes -= rest;
    if (request_.total_tasks < nodes_) {
      chunk_.nodes = 0;
    }
  }
  if (chunk_.nodes > 0) request_.chunks.push_back(finish(chunk_));
  request_.total_tasks = 0;
}

ResourceRequest SlurmReader::read(const JobScript& script) {
  for (const Directive& option : script.directives) {
    const auto name = slurm_option_name(option.option);
    if (!name) {
      leave(option, "sbatch has no such option", true);
    } else if (!read_shape(*name, option) && !read_gpus(*name, option) && !read_text(*name, option.value) &&
               !read_life(*name, option)) {
      leave_to_slurm(option, "no counterpart in PBS");
    }
  }
  request_.style = Style::select;
  resolve_shape(script);
  return std::move(request_);
}

}  // namespace

ResourceRequest read_slurm_request(const JobScript& script) { return SlurmReader().read(script); }

}  // namespace ddlrun::job_scripts
