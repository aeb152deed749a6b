// SPDX-License-Identifier: MIT
#include "launch/plan/resolve_framework.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/detect.hpp"
#include "launch/frameworks/gflags.hpp"
#include "launch/frameworks/python_imports.hpp"
#include "launch/plan/linked_libraries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ddlrun::launch {

namespace {

using frameworks::Detection;
using frameworks::Framework;

constexpr std::uint64_t max_tasks = 4096;

// Nothing where no word of the program is a script.
std::optional<std::string> find_script_path(System& system, const Command& program) {
  const auto at = find_script(program);
  if (!at) return std::nullopt;
  return *at == 0 ? find_program(system, program[0]) : program[*at];
}

// The first part of a program's script; "" if it cannot be read: the ranks will report that.
std::string read_script(System& system, const std::string& path) {
  try {
    const auto part = system.files.read_from(path, 0, frameworks::most_script_bytes);
    return part ? part->bytes : std::string();
  } catch (const Error&) {
    return {};
  }
}

// Small files beside the script that its imports may mean; one level.
std::vector<frameworks::PythonModule> read_modules(System& system, const std::string& path,
                                                   const frameworks::DetectRequest& request) {
  std::vector<frameworks::PythonModule> modules;
  if (!frameworks::is_python_script(request.program, request.script)) return modules;
  const std::string directory =
      path.find('/') == std::string::npos ? "" : path.substr(0, path.rfind('/') + 1);
  for (const std::string& name : imported_files(frameworks::read_python_words(request.script))) {
    const std::string file = directory + name;
    if (file == path || !system.files.exists(file)) continue;
    try {
      const auto part = system.files.read_from(file, 0, frameworks::most_module_bytes);
      if (!part || part->size > frameworks::most_module_bytes) continue;
      modules.push_back({name, part->bytes});
    } catch (const Error&) {
      continue;  // the ranks will report that
    }
    if (modules.size() == frameworks::most_modules) break;
  }
  return modules;
}

// Only for Caffe's command line: its libraries distinguish Intel Caffe from other versions.
std::vector<std::string> caffe_libraries(System& system, const Command& program) {
  const bool trains =
      std::ranges::find(program, "train") != program.end() && frameworks::find_gflag(program, "solver");
  return trains ? read_program_libraries(system, program).names : std::vector<std::string>();
}

Detection detect_script(System& system, const Command& program, frameworks::DetectRequest& request) {
  request.program = program;
  request.script.clear();
  request.modules.clear();
  if (const auto path = find_script_path(system, program)) {
    request.script_name = program[*find_script(program)];
    request.script = read_script(system, *path);
    request.modules = read_modules(system, *path, request);
  }
  return frameworks::detect_framework(request);
}

// Behind a program that starts another one, the Python command whose script is here: "apptainer exec
// python.sif python3 train.py". An image has no script behind its name, so no option of the programs needs to
// be known.
Command find_started_python(System& system, const Command& program) {
  if (!starts_another(program[0])) return {};
  for (auto word = program.begin() + 1; word != program.end(); ++word) {
    if (!is_python(*word)) continue;
    Command inner(word, program.end());
    const auto path = find_script_path(system, inner);
    if (path && system.files.exists(*path)) return inner;
  }
  return {};
}

Detection detect(System& system, const Command& program) {
  if (program.empty() || program[0].empty() || program[0].starts_with('-')) return {};  // the trainer
  frameworks::DetectRequest request;
  request.libraries = caffe_libraries(system, program);
  Detection found = detect_script(system, program, request);
  if (found.framework != Framework::none || !found.why.empty()) return found;
  // A wrapper, such as "bash run.sh": what counts is the Python script that it runs.
  Command inner = find_python_command(find_shell_text(program, request.script));
  if (inner.empty()) inner = find_started_python(system, program);
  return inner.empty() ? found : detect_script(system, inner, request);
}

std::uint32_t parse_tasks(const std::string& text, const char* option) {
  if (text.empty()) return 0;
  const auto number = parse_unsigned(text, max_tasks);
  if (number) return static_cast<std::uint32_t>(*number);
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is not a number from 0 to {}", printable(text, 40), max_tasks), option,
               "--ps 2 --workers 3"});
}

std::uint16_t parse_port(const std::string& text, const char* option) {
  const auto port = parse_unsigned(text, 65535);
  if (port && *port > 0) return static_cast<std::uint16_t>(*port);
  throw Error(ErrorKind::usage, {fmt::format("'{}' is not a port from 1 to 65535", printable(text, 40)),
                                 option, fmt::format("{} 29500", option)});
}

// What gives the number of ranks beside --ps and --workers; "" if nothing does.
std::string other_count(const JobShape& shape) {
  if (shape.dims) return topology::render_dims(*shape.dims);
  if (!shape.rankfile.empty()) return "--rankfile";
  if (shape.ranks_per_host) return "--ranks-per-host";
  if (shape.hosts_per_rack) return "--hosts-per-rack";
  if (shape.racks) return "--racks";
  return shape.aisles ? "--aisles" : "";
}

void resolve_tasks(const FrameworkFlags& flags, const JobShape& shape, const Detection& detected,
                   FrameworkSpec& spec) {
  spec.ps_tasks = parse_tasks(flags.ps, "--ps");
  spec.workers = parse_tasks(flags.workers, "--workers");
  const bool given = !flags.ps.empty() || !flags.workers.empty();
  if (given && flags.framework == "auto") spec.framework = Framework::tensorflow_ps;
  if (given && spec.framework != Framework::tensorflow_ps) {
    throw Error(ErrorKind::usage, {fmt::format("--ps and --workers are for TensorFlow, the framework is {}",
                                               name_of(spec.framework)),
                                   "--ps", "--framework tensorflow-ps, or DIMS instead"});
  }
  if (spec.framework != Framework::tensorflow_ps) return;
  if (spec.ps_tasks > 0 && spec.workers > 0) {
    const std::string other = other_count(shape);
    if (other.empty()) return;
    throw Error(ErrorKind::usage,
                {fmt::format("--ps and --workers conflict with {}", other), other,
                 "--ps and --workers alone; -H h1:3,h2:2 gives hosts different numbers of tasks"});
  }
  if (flags.framework != "auto" || given) {
    throw Error(ErrorKind::usage,
                {"tensorflow-ps needs --ps and --workers", "--ps and --workers", "--ps 1 --workers 2"});
  }
  spec.framework = Framework::none;
  spec.remarks.push_back(
      fmt::format("framework none: {}; --ps 1 --workers 2 starts its tasks", detected.why));
}

void resolve_style(const FrameworkFlags& flags, const Detection& detected, FrameworkSpec& spec) {
  spec.chief = flags.chief;
  if (spec.chief && spec.framework != Framework::tensorflow_ps) {
    throw Error(ErrorKind::usage,
                {"--chief is for parameter servers", "--chief", "--ps 2 --workers 3 --chief"});
  }
  if (detected.chief && !spec.chief && spec.workers > 0) {
    spec.chief = true;
    spec.remarks.push_back(
        "one task more, the chief: the script's ParameterServerStrategy is run by it (as --chief)");
  }
  if (flags.tf_style.empty()) {
    spec.flags_style = detected.flags_style;
  } else if (flags.tf_style == "config" || flags.tf_style == "flags") {
    spec.flags_style = flags.tf_style == "flags";
  } else {
    throw Error(ErrorKind::usage,
                {fmt::format("--tf-style must be config or flags, not '{}'", printable(flags.tf_style, 40)),
                 "--tf-style", "--tf-style flags"});
  }
}

// The counts of -H are exact; the slots of a hostfile may be more than the tasks.
void check_task_counts(const LaunchFlags& flags, const JobShape& shape, const FrameworkSpec& spec) {
  if (spec.framework != Framework::tensorflow_ps || shape.host_ranks.empty()) return;
  const std::uint64_t others = std::uint64_t{spec.ps_tasks} + (spec.chief ? 1 : 0),
                      tasks = others + spec.workers,
                      sum =
                          std::accumulate(shape.host_ranks.begin(), shape.host_ranks.end(), std::uint64_t{0});
  const bool is_typed = !flags.hosts_option.empty();
  if (is_typed ? tasks == sum : tasks <= sum) return;
  throw Error(ErrorKind::usage,
              {fmt::format("{} ps{} {} workers{} are {} tasks, {} {}", spec.ps_tasks,
                           spec.chief ? "," : " and", spec.workers, spec.chief ? " and a chief" : "", tasks,
                           is_typed ? "the counts of -H are" : "the slots of the hostfile are", sum),
               is_typed ? "-H" : "--hostfile",
               sum > others ? fmt::format("--workers {}, or counts whose sum is {}", sum - others, tasks)
                            : fmt::format("counts whose sum is {}", tasks)});
}

// Tasks are placed by their GPUs and numbered by their kind.
void check_task_placement(const LaunchFlags& flags, const FrameworkSpec& spec) {
  if (spec.framework != Framework::tensorflow_ps) return;
  const std::string option = !flags.plan.order.empty() ? "--order"
                             : flags.plan.by != "auto" ? "--map-by"
                                                       : "";
  if (option.empty()) return;
  throw Error(ErrorKind::usage, {option + " has no effect on --ps and --workers", option,
                                 "leave it out; -H h1:3,h2:2 gives the tasks of each host"});
}

// --ddl-mode and --ddl-arg select DDL, as --ps selects TensorFlow.
void resolve_ddl(const FrameworkFlags& flags, FrameworkSpec& spec) {
  spec.ddl_mode = flags.ddl_mode;
  spec.ddl_arguments = flags.ddl_arguments;
  if (flags.ddl_mode.empty() && flags.ddl_arguments.empty()) return;
  if (flags.framework == "auto" && spec.framework == Framework::none) spec.framework = Framework::ddl;
  if (spec.framework == Framework::ddl || spec.framework == Framework::caffe_ddl) return;
  const char* const option = flags.ddl_mode.empty() ? "--ddl-arg" : "--ddl-mode";
  throw Error(ErrorKind::usage,
              {fmt::format("{} is for DDL, the framework is {}", option, name_of(spec.framework)), option,
               "--framework ddl"});
}

void resolve_horovod(System& system, const FrameworkFlags& flags, FrameworkSpec& spec) {
  spec.horovod = flags.horovod;
  const bool given = !flags.horovod.empty() || !flags.horovod_config.empty();
  if (given && spec.framework != Framework::horovod) {
    const std::string place =
        flags.horovod.empty() ? "--horovod-config" : flags.horovod.begin()->second.place;
    throw Error(ErrorKind::usage,
                {fmt::format("{} is for Horovod, the framework is {}", place, name_of(spec.framework)), place,
                 "--framework horovod"});
  }
  if (flags.horovod_config.empty()) return;
  frameworks::read_horovod_yaml(system.files.read(flags.horovod_config, 1 << 20), flags.horovod_config,
                                spec.horovod);
}

bool leaves_free(Framework framework, bool uses_torch, const std::string& affinity) {
  const bool is_torch = framework == Framework::pytorch || (framework == Framework::ddl && uses_torch);
  return framework == Framework::intel_caffe || (is_torch && affinity.empty());
}

}  // namespace

bool leaves_threads_free(System& system, const LaunchFlags& flags) {
  const auto named = frameworks::parse_framework(flags.framework.framework);
  const Detection detected = detect(system, flags.program);
  return leaves_free(named.value_or(detected.framework), detected.torch, flags.affinity);
}

ResolvedFramework resolve_framework(System& system, const LaunchFlags& flags, const JobShape& shape) {
  const FrameworkFlags& own = flags.framework;
  const auto named = frameworks::parse_framework(own.framework);
  const Detection detected = detect(system, flags.program);
  ResolvedFramework result;
  FrameworkSpec& spec = result.spec;
  spec.framework = named.value_or(detected.framework);
  spec.is_named = named.has_value();
  spec.needs_mpi = spec.framework == Framework::horovod || (!named && detected.needs_mpi);
  spec.uses_torch = spec.framework == Framework::ddl && detected.torch;
  spec.wants_result = !own.np.empty();
  spec.base_port = parse_port(own.base_port, "--base-port");
  if (!own.master_port.empty()) spec.master_port = parse_port(own.master_port, "--master-port");
  spec.intel_caffe = own.intel_caffe;
  resolve_tasks(own, shape, detected, spec);
  resolve_style(own, detected, spec);
  check_task_counts(flags, shape, spec);
  check_task_placement(flags, spec);
  resolve_ddl(own, spec);
  resolve_horovod(system, own, spec);
  if (!named && spec.framework == detected.framework && !detected.why.empty()) {
    spec.remarks.push_back(frameworks::render_detection(detected));
    if (!detected.doubtful) spec.detection = spec.remarks.back();
  }
  result.leaves_threads_free = leaves_free(spec.framework, spec.uses_torch, flags.affinity);
  result.is_packed = frameworks::usual_order(spec.framework) == topology::RankOrder::packed;
  if (result.is_packed && flags.plan.order.empty() && shape.rankfile.empty()) {
    spec.order_remark =
        fmt::format("ranks are numbered host by host, as {} assumes (--order ddl: over the hosts)",
                    name_of(spec.framework));
    spec.remarks.push_back(spec.order_remark);
  }
  return result;
}

}  // namespace ddlrun::launch
