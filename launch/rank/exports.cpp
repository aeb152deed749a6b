// SPDX-License-Identifier: MIT
#include "launch/rank/exports.hpp"

#include "base/text/error.hpp"
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

struct Typed {
  std::string name;
  bool has_value = false;
  std::string value;
};

// A name with "*" for any letters.
bool is_pattern(std::string_view word) {
  if (word.find('*') == std::string_view::npos) return false;
  std::string name(word);
  std::replace(name.begin(), name.end(), '*', '_');
  return is_variable_name(name);
}

Typed parse_typed(const std::string& word) {
  const std::size_t equals = word.find('=');
  Typed typed{word.substr(0, equals), equals != std::string::npos, {}};
  if (typed.has_value) typed.value = word.substr(equals + 1);
  if (!is_variable_name(typed.name)) {
    throw Error(ErrorKind::usage,
                {fmt::format("'{}' is not a variable name: letters, digits and _, no digit first",
                             printable(typed.name, 60)),
                 "-x", "-x NAME or -x NAME=value, one -x for each"});
  }
  return typed;
}

class Builder {
 public:
  explicit Builder(EnvVars environment) : environment_(std::move(environment)) {}

  bool is_set(const std::string& name) const {
    return environment_.count(name) != 0 || exports_.set_by_user.count(name) != 0;
  }

  // The value the ranks will see.
  std::string value(const std::string& name) const {
    for (const EnvVars* vars : {&exports_.set_by_user, &environment_}) {
      if (const auto found = vars->find(name); found != vars->end()) return found->second;
    }
    return {};
  }

  void add(const std::string& name, std::string why) {
    auto& names = exports_.names;
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    names.push_back(name);
    exports_.reasons.push_back({"-x " + name, std::move(why)});
  }

  void set(const std::string& name, std::string value, std::string why) {
    exports_.set_by_us[name] = std::move(value);
    add(name, std::move(why));
  }

  void take(const Typed& typed) {
    const auto [at, fresh] = exports_.set_by_user.emplace(typed.name, typed.value);
    if (!fresh && at->second != typed.value) {
      throw Error(ErrorKind::usage, {fmt::format("-x gives {} two different values", typed.name), "-x",
                                     fmt::format("keep one -x {}=...", typed.name)});
    }
  }

  void add_default(const Typed& typed) {
    if (is_set(typed.name))
      add(typed.name, source_of(typed.name));
    else
      set(typed.name, typed.value,
          printable(typed.value, 40) + ": what was usual where these words come from");
  }

  // The names that are set here and match; secrets are reported, not taken.
  void add_matching(const std::string& pattern, bool passes_all) {
    std::vector<std::string> secrets;
    bool any = false;
    for (const auto& [name, value] : environment_) {
      if (!matches_pattern(pattern, name) || !is_variable_name(name)) continue;
      any = true;
      if (is_secret_name(name))
        secrets.push_back(name);
      else
        add(name, "you requested " + pattern);
    }
    if (!secrets.empty() && passes_all) {
      remark(fmt::format("this launcher passes the whole environment to the ranks, {} too",
                         join(secrets, ", ")));
    } else if (!secrets.empty()) {
      remark(fmt::format("-x '{}' leaves out {}: a name that looks like a secret is exported by -x {} only",
                         pattern, join(secrets, ", "), secrets.front()));
    }
    if (any) return;
    throw Error(ErrorKind::usage, {fmt::format("nothing that is set here fits '{}'", pattern), "-x",
                                   "env | cut -d= -f1 | sort"});
  }

  // What libraries of distributed training read, and what other hosts will not see.
  void report_omitted() {
    std::vector<std::string> names;
    for (const auto& [name, value] : environment_) {
      const bool is_one =
          name.starts_with("NCCL_") || name.starts_with("UCX_") || name.starts_with("HOROVOD_");
      const bool goes = std::find(exports_.names.begin(), exports_.names.end(), name) != exports_.names.end();
      if (is_one && !goes && is_variable_name(name)) names.push_back(name);
    }
    if (names.empty()) return;
    const std::size_t bar = names.front().find('_');
    remark(fmt::format("{} {} set here and not exported: other hosts do not see {} (-x '{}_*')",
                       join(names, ", "), names.size() == 1 ? "is" : "are", names.size() == 1 ? "it" : "them",
                       names.front().substr(0, bar)));
  }

  std::string source_of(const std::string& name) const {
    return is_typed(name) ? "from -x" : "from the environment";
  }
  void note_chosen_threads() { exports_.chooses_threads = true; }
  bool is_typed(const std::string& name) const { return exports_.set_by_user.count(name) != 0; }
  void forget(const std::string& name) { environment_.erase(name); }
  void remark(std::string text) { exports_.remarks.push_back(std::move(text)); }
  // Environment and -x together, as the ranks will have it.
  EnvVars seen() const {
    EnvVars all = exports_.set_by_user;
    all.insert(environment_.begin(), environment_.end());
    return all;
  }

  Exports result() && { return std::move(exports_); }

 private:
  EnvVars environment_;
  Exports exports_;
};

void add_device_order(Builder& builder) {
  const std::string name = "CUDA_DEVICE_ORDER";
  if (!builder.is_set(name)) {
    builder.set(name, "PCI_BUS_ID", "PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed");
  } else if (builder.value(name) == "PCI_BUS_ID") {
    builder.add(name, "PCI_BUS_ID, as you set it: the order in which the plan counts GPUs");
  } else {
    builder.add(name, fmt::format("{}, {}; note that the plan counts GPUs in PCI_BUS_ID order",
                                  printable(builder.value(name), 40), builder.source_of(name)));
  }
}

void add_own_thread_count(Builder& builder, int fewest, std::uint32_t room) {
  const std::string name = "OMP_NUM_THREADS", value = printable(builder.value(name), 40);
  const auto threads = parse_unsigned(builder.value(name));
  const bool too_many = threads && fewest > 0 && *threads > static_cast<unsigned>(fewest);
  const std::string from = builder.source_of(name);
  if (!too_many) return builder.add(name, fmt::format("{}, {}", value, from));
  builder.add(name, fmt::format("{}, {}, although a rank has {} core{}: more threads share them ({}{}{})",
                                value, from, fewest, fewest == 1 ? "" : "s",
                                builder.is_typed(name) ? "-x OMP_NUM_THREADS=" : "export OMP_NUM_THREADS=",
                                fewest, *threads <= room ? ", or --cores-per-rank " + value : ""));
}

// Of the job, equal for all its ranks. PBS sets them on its first host only, where mpirun starts the others
// by ssh: a script that takes its settings by the index of an array would take others there.
void add_job_variables(Builder& builder) {
  for (const char* name :
       {"PBS_JOBID", "PBS_JOBNAME", "PBS_O_WORKDIR", "PBS_QUEUE", "PBS_ARRAY_ID", "PBS_ARRAY_INDEX",
        "PBS_ARRAYID", "SLURM_JOB_NAME", "SLURM_SUBMIT_DIR", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"}) {
    if (builder.is_set(name)) builder.add(name, "of the job, for its ranks on all hosts");
  }
  if (builder.is_set("SLURM_JOB_ID"))
    builder.add("SLURM_JOB_ID", "each rank has the Slurm variables of its own");
}

// What the user's own environment says about threads has to reach the ranks of other hosts, too.
void add_own_thread_variables(Builder& builder) {
  for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "OMP_DISPLAY_ENV", "GOMP_CPU_AFFINITY",
                           "KMP_AFFINITY", "KMP_HW_SUBSET", "KMP_BLOCKTIME", "KMP_SETTINGS",
                           "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"}) {
    if (builder.is_set(name)) builder.add(name, builder.source_of(name));
  }
}

// --threads is nearer than a variable of the environment, which a scheduler may have set; against -x it is a
// contradiction.
void settle_thread_count(Builder& builder, std::uint32_t asked) {
  const std::string name = "OMP_NUM_THREADS";
  if (asked == 0 || !builder.is_set(name) || builder.value(name) == fmt::format("{}", asked)) return;
  const std::string value = printable(builder.value(name), 40);
  if (builder.is_typed(name)) {
    throw Error(ErrorKind::usage,
                {fmt::format("--threads {} and -x OMP_NUM_THREADS={} contradict each other", asked, value),
                 "--threads", fmt::format("--threads {} alone", asked)});
  }
  builder.remark(
      fmt::format("OMP_NUM_THREADS={} of the environment gives way to --threads {}", value, asked));
  builder.forget(name);
}

void add_threads(Builder& builder, const ExportRequest& request) {
  affinity::ThreadRequest threads = request.threads.value_or(affinity::ThreadRequest{});
  if (!request.threads) threads.runtime = affinity::OpenMpRuntime::none;
  threads.cores = static_cast<std::uint32_t>(std::max(0, request.fewest_cores));
  threads.most_cores = static_cast<std::uint32_t>(std::max(0, request.most_cores));
  settle_thread_count(builder, threads.threads);
  const affinity::ThreadSettings settings = affinity::plan_thread_settings(threads, builder.seen());
  if (builder.is_set("OMP_NUM_THREADS"))
    add_own_thread_count(builder, request.fewest_cores, threads.room);
  else if (threads.threads == 0)
    builder.note_chosen_threads();
  for (const affinity::ThreadVariable& variable : settings.variables)
    builder.set(variable.name, variable.value, variable.value + ": " + variable.why);
  add_own_thread_variables(builder);
  for (const std::string& remark : settings.remarks) builder.remark(remark);
}

// The script of `ddlrun submit` names these for the ranks, and the user does not.
std::string reason_of(const Typed& typed) {
  if (typed.has_value) return "you set it; passed by name: only the command line of ddlrun shows its value";
  const bool is_of_job = typed.name == "DDLRUN_RESTART_COUNT" || typed.name == "DDLRUN_ARRAY_INDEX" ||
                         typed.name == "DDLRUN_DATA";
  return is_of_job ? "of the job: its script sets it" : "you requested it";
}

// All at once; a secret's value had better not stand in a command line, which every user of the host sees.
void refuse_unset(const Builder& builder, const std::vector<Typed>& typed) {
  std::vector<std::string> unset, words;
  for (const Typed& entry : typed) {
    if (builder.is_set(entry.name)) continue;
    unset.push_back(entry.name);
    words.push_back(is_secret_name(entry.name) ? fmt::format("read -rs {0} && export {0}", entry.name)
                                               : fmt::format("-x {}=value", entry.name));
  }
  if (unset.empty()) return;
  throw Error(ErrorKind::usage, {fmt::format("{} {} not set here, so there is nothing to export",
                                             join(unset, ", "), unset.size() == 1 ? "is" : "are"),
                                 "-x " + join(unset, " -x "), join(words, "; ")});
}

}  // namespace

bool is_variable_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

Exports plan_exports(const ExportRequest& request, const EnvVars& environment) {
  Builder builder(environment);
  std::vector<Typed> typed;
  std::vector<std::string> patterns;
  for (const std::string& word : request.typed) {
    if (is_pattern(word))
      patterns.push_back(word);
    else
      typed.push_back(parse_typed(word));
  }
  for (const Typed& entry : typed) {
    if (entry.has_value) builder.take(entry);
  }
  if (builder.is_set("PATH")) builder.add("PATH", "programs are found as here");
  if (builder.is_set("LD_LIBRARY_PATH")) builder.add("LD_LIBRARY_PATH", "libraries are found as here");
  for (const char* name : {"DDL_OPTIONS", "DDL_CACHE", "DDL_KERNELS"}) {
    if (builder.is_set(name)) builder.add(name, "for libddl, as you set it: equal on all hosts");
  }
  if (request.others && !request.passes_all) add_job_variables(builder);
  add_device_order(builder);
  add_threads(builder, request);
  refuse_unset(builder, typed);
  for (const Typed& entry : typed) builder.add(entry.name, reason_of(entry));
  for (const std::string& pattern : patterns) builder.add_matching(pattern, request.passes_all);
  for (const std::string& word : request.defaults) builder.add_default(parse_typed(word));
  if (request.others && !request.passes_most) builder.report_omitted();
  return std::move(builder).result();
}

}  // namespace ddlrun::launch
