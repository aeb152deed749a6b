// SPDX-License-Identifier: MIT
#include "launch/frameworks/detect.hpp"

#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/gflags.hpp"
#include "launch/frameworks/nested_launcher.hpp"
#include "launch/frameworks/python_imports.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::frameworks {

namespace {

struct Sign {
  Framework framework;
  int line;
  std::string what;
};

std::vector<Sign> torch_signs(const PythonWords& words) {
  for (const char* module : {"torch.distributed", "torch.nn.parallel.DistributedDataParallel"}) {
    if (const int line = words.imports_module(module))
      return {{Framework::pytorch, line, fmt::format("imports {}", module)}};
  }
  // They take the variables of torch.distributed where somebody has set them.
  for (const char* module : {"deepspeed", "accelerate", "lightning", "pytorch_lightning"}) {
    if (const int line = words.imports_module(module))
      return {{Framework::pytorch, line, fmt::format("imports {}", module)}};
  }
  if (words.imports_module("torch") == 0) return {};
  for (const char* name : {"DistributedDataParallel", "init_process_group", "FullyShardedDataParallel"}) {
    if (const int line = words.names_word(name))
      return {{Framework::pytorch, line, fmt::format("uses torch's {}", name)}};
  }
  return {};
}

std::vector<Sign> tensorflow_signs(const PythonWords& words) {
  if (words.imports_module("tensorflow") == 0) return {};
  for (const char* name :
       {"ps_hosts", "replica_device_setter", "ParameterServerStrategy", "ParameterServerStrategyV2"}) {
    if (const int line = words.names_word(name))
      return {{Framework::tensorflow_ps, line, fmt::format("imports tensorflow and uses {}", name)}};
  }
  for (const char* name : {"MultiWorkerMirroredStrategy", "CollectiveAllReduceStrategy",
                           "TFConfigClusterResolver", "MirroredStrategy"}) {
    if (const int line = words.names_word(name))
      return {{Framework::tensorflow, line, fmt::format("imports tensorflow and uses {}", name)}};
  }
  return {};
}

std::vector<Sign> python_signs(const PythonWords& words) {
  std::vector<Sign> signs;
  if (const int line = words.imports_module("horovod"))
    signs.push_back({Framework::horovod, line, "imports horovod"});
  if (const int line = words.imports_module("ddl")) signs.push_back({Framework::ddl, line, "imports ddl"});
  for (const auto& more : {torch_signs(words), tensorflow_signs(words)})
    signs.insert(signs.end(), more.begin(), more.end());
  return signs;
}

// Libraries that are used with any framework, and decide none.
std::string undecided(const PythonWords& words) {
  for (const char* module : {"tensorflow", "torch"}) {
    if (const int line = words.imports_module(module))
      return fmt::format("line {} imports {}, but nothing of it that is distributed", line, module);
  }
  return {};
}

// `ddl` sums in a program of PyTorch's: both get what they expect.
bool is_ddl_in_torch(const std::vector<Sign>& signs) {
  return signs.size() == 2 && signs[0].framework == Framework::ddl &&
         signs[1].framework == Framework::pytorch;
}

Detection judge_signs(const std::vector<Sign>& signs, const PythonWords& words, const std::string& script) {
  Detection found;
  if (signs.empty()) {
    if (const int line = words.imports_module("mpi4py")) {
      found.why = fmt::format("{} line {} imports mpi4py, which asks MPI for everything", script, line);
      found.needs_mpi = true;
      return found;
    }
    found.why = undecided(words);
    found.doubtful = !found.why.empty();
    if (found.doubtful) found.why = script + " " + found.why;
    return found;
  }
  std::vector<std::string> seen;
  for (const Sign& sign : signs) seen.push_back(fmt::format("line {} {}", sign.line, sign.what));
  found.why = fmt::format("{} {}", script, join(seen, ", "));
  found.torch = std::ranges::any_of(signs, [](const Sign& s) { return s.framework == Framework::pytorch; });
  found.doubtful = signs.size() > 1 && !is_ddl_in_torch(signs);
  if (found.doubtful) return found;
  found.framework = signs.front().framework;
  found.flags_style = found.framework == Framework::tensorflow_ps && words.names_word("ps_hosts") != 0;
  for (const char* name : {"ParameterServerStrategy", "ParameterServerStrategyV2", "ClusterCoordinator"})
    found.chief = found.chief || (found.framework == Framework::tensorflow_ps && words.names_word(name) != 0);
  return found;
}

// Where the script itself shows nothing: what the modules show that it imports from its own directory.
Detection judge_modules(const DetectRequest& request, const PythonWords& script) {
  std::vector<Detection> seen;
  for (const PythonModule& module : request.modules) {
    const PythonWords words = read_python_words(module.text);
    const std::vector<Sign> signs = python_signs(words);
    const Detection one = judge_signs(
        signs, words,
        fmt::format("{} imports {}, whose", printable(request.script_name, 80), printable(module.name, 80)));
    if (!signs.empty() || one.needs_mpi) seen.push_back(one);
  }
  if (seen.empty()) return {};
  Detection found = seen.front();
  for (const Detection& other : seen) {
    found.torch = found.torch || other.torch;
    found.chief = found.chief || other.chief;
    found.flags_style = found.flags_style || other.flags_style;
    if (other.framework == found.framework && other.doubtful == found.doubtful) continue;
    found.why += "; " + other.why;
    found.framework = Framework::none;
    found.doubtful = true;
  }
  if (found.framework == Framework::tensorflow_ps && script.names_word("ps_hosts") != 0)
    found.flags_style = true;
  return found;
}

// The M of "python -m M"; "" without.
std::string_view python_module(const Command& program) {
  if (!is_python(program[0])) return {};
  const auto at = std::ranges::find(program, "-m");
  return at == program.end() || at + 1 == program.end() ? std::string_view() : *(at + 1);
}

// "python -m mpi4py train.py" ends all ranks with one that raises; "python -m mpi4py.bench" measures.
Detection judge_mpi4py(const Command& program) {
  Detection found;
  const std::string_view module = python_module(program);
  found.needs_mpi = module == "mpi4py" || module.starts_with("mpi4py.");
  if (found.needs_mpi) found.why = fmt::format("python -m {} asks MPI for everything", printable(module, 60));
  return found;
}

// A launcher or a module decides nothing: which script runs is not known.
Detection judge_launcher(const Command& program) {
  Detection found;
  const auto nested = find_nested_launcher(program);
  if (nested) {
    found.why = nested->name + " starts ranks itself";
  } else if (const std::string_view module = python_module(program); !module.empty()) {
    found.why = fmt::format("python -m {} is not looked into", printable(module, 60));
  }
  found.doubtful = !found.why.empty();
  return found;
}

Detection detect_caffe(const DetectRequest& request) {
  Detection found;
  const auto train = std::ranges::find(request.program, "train");
  const auto ddl = find_gflag(request.program, "ddl");
  const auto mlsl = std::ranges::find_if(request.libraries,
                                         [](const std::string& name) { return name.starts_with("libmlsl"); });
  if (ddl && train != request.program.end()) {
    found.framework = Framework::caffe_ddl;
    found.why = fmt::format("`train` with the option -ddl");
  } else if (mlsl != request.libraries.end()) {
    found.framework = Framework::intel_caffe;
    found.why = fmt::format("{} is linked with {}", printable(request.program[0], 60), *mlsl);
  }
  return found;
}

}  // namespace

bool is_python_script(const Command& program, std::string_view text) {
  const auto at = find_script(program);
  if (!at) return false;
  const std::string_view first = text.substr(0, text.find('\n'));
  return (*at > 0 && is_python(program[0])) ||
         (first.starts_with("#!") && first.find("python") != std::string_view::npos);
}

Detection detect_framework(const DetectRequest& request) {
  if (request.program.empty()) return {};
  Detection found = detect_caffe(request);
  if (found.framework != Framework::none) return found;
  const Detection mpi4py = judge_mpi4py(request.program);
  if (!mpi4py.needs_mpi) found = judge_launcher(request.program);
  if (found.doubtful) return found;
  if (!is_python_script(request.program, request.script)) return mpi4py;
  const PythonWords words = read_python_words(request.script);
  const std::vector<Sign> signs = python_signs(words);
  found = judge_signs(signs, words, printable(request.script_name, 80));
  if (signs.empty() && !found.needs_mpi && !mpi4py.needs_mpi) {
    const Detection modules = judge_modules(request, words);
    if (!modules.why.empty()) return modules;
  }
  return found.why.empty() ? mpi4py : found;
}

std::string render_detection(const Detection& detection) {
  if (detection.why.empty()) return {};
  if (!detection.doubtful)
    return fmt::format("framework {}: {} (--framework)", name_of(detection.framework), detection.why);
  return fmt::format("framework none: {}; --framework NAME decides", detection.why);
}

}  // namespace ddlrun::frameworks
