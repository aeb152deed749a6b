// SPDX-License-Identifier: MIT
#include "launch/frameworks/nested_launcher.hpp"

#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/detect.hpp"
#include "launch/frameworks/mpirun_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ddlrun::frameworks {

namespace {

enum class Starts { program, python_script };

// The options of a launcher that precede its program, without dashes and with '-' for '_'.
struct LauncherSyntax {
  std::string_view name;
  Starts starts;
  bool stays_on_host;
  bool lists_flags;          // `options` are those without a value; else those with one
  std::string_view options;  // between blanks; mpirun's are in mpirun_options.cpp
  bool of_mpi = false;
};

constexpr std::string_view torchrun_flags =
    " standalone m module no-python run-path use-env virtual-local-rank signals-to-handle-default ";
constexpr std::string_view srun_values = " n N c p A t w x J o e i D G q C d m B T W r L M S ";

// Options as in torchrun 2.5, horovodrun 0.28, deepspeed 0.15, accelerate 1.1, Slurm 24.11.
constexpr std::array syntaxes{
    LauncherSyntax{"torchrun", Starts::python_script, true, true, torchrun_flags},
    LauncherSyntax{"torch.distributed.run", Starts::python_script, true, true, torchrun_flags},
    LauncherSyntax{"torch.distributed.launch", Starts::python_script, true, true, torchrun_flags},
    LauncherSyntax{
        "accelerate", Starts::python_script, true, true,
        " multi-gpu cpu tpu use-fsdp use-deepspeed use-megatron-lm use-xpu no-python module m quiet q "
        "debug same-network no-local-rank downcast-bf16 "},
    LauncherSyntax{
        "deepspeed", Starts::python_script, false, true,
        " no-local-rank no-python module no-ssh-check no-ssh force-multi save-pid elastic-training "
        "bind-cores-to-rank "},
    LauncherSyntax{"horovodrun", Starts::program, false, true,
                   " v version verbose disable-cache cb check-build mpi gloo jsrun tcp autotune no-autotune "
                   "timeline-mark-cycles no-timeline-mark-cycles no-stall-check hierarchical-allreduce "
                   "hierarchical-allgather no-hierarchical-allreduce no-hierarchical-allgather "
                   "log-with-timestamp log-without-timestamp prefix-output-with-timestamp torus-allreduce "},
    LauncherSyntax{"mpirun", Starts::program, false, false, "", true},
    LauncherSyntax{"mpiexec", Starts::program, false, false, "", true},
    LauncherSyntax{"mpiexec.hydra", Starts::program, false, false, "", true},
    LauncherSyntax{"orterun", Starts::program, false, false, "", true},
    LauncherSyntax{"prterun", Starts::program, false, false, "", true},
    LauncherSyntax{"srun", Starts::program, false, false, srun_values},
    LauncherSyntax{"jsrun", Starts::program, false, false,
                   " n r a c g l b d p nrs rs-per-host tasks-per-rs "},
    LauncherSyntax{"aprun", Starts::program, false, false, " n N d S sn ss cc j e "},
};

const LauncherSyntax* find_syntax(const std::string& name) {
  const auto found = std::ranges::find(syntaxes, std::string_view(name), &LauncherSyntax::name);
  return found == syntaxes.end() ? nullptr : &*found;
}

std::string option_name(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string name(word.substr(0, word.find('=')));
  std::ranges::replace(name, '_', '-');
  return name;
}

OptionValues count_values(const LauncherSyntax& syntax, std::string_view word, std::string_view name,
                          std::string_view next) {
  if (syntax.of_mpi) return count_mpirun_values(word, name, next);
  if (word.find('=') != std::string_view::npos) return {};
  const bool listed = syntax.options.find(" " + std::string(name) + " ") != std::string_view::npos;
  const bool joined = syntax.name == "srun" && !word.starts_with("--") && word.size() > 2;  // -n4
  return {listed != syntax.lists_flags && !joined ? 1U : 0U, true};
}

// mpirun's, mpiexec's and horovodrun's options that launch has too, by its own name.
std::string_view own_option(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> options[] = {{"n", "-np"},
                                                                       {"np", "-np"},
                                                                       {"H", "-H"},
                                                                       {"host", "-H"},
                                                                       {"hosts", "-H"},
                                                                       {"x", "-x"},
                                                                       {"f", "--hostfile"},
                                                                       {"hostfile", "--hostfile"},
                                                                       {"machinefile", "--hostfile"}};
  const auto* found = std::ranges::find(options, name, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(options) ? std::string_view() : found->second;
}

struct InnerWords {
  Command words;  // from the program on
  Command shape;
  std::vector<Command> options;
  std::vector<std::string> unknown;
  bool is_module = false, is_plain = false;  // -m; --no-python
};

InnerWords skip_options(const LauncherSyntax& syntax, const Command& words, std::size_t at) {
  InnerWords inner;
  while (at < words.size() && words[at].size() > 1 && words[at][0] == '-' && words[at] != "--") {
    const std::string name = option_name(words[at]);
    inner.is_module = inner.is_module || name == "m" || name == "module";
    inner.is_plain = inner.is_plain || name == "no-python";
    const auto [values, is_sure] =
        count_values(syntax, words[at], name, at + 1 < words.size() ? words[at + 1] : "");
    if (!is_sure) inner.unknown.push_back(words[at]);
    const std::string_view own = syntax.starts == Starts::program ? own_option(name) : "";
    if (values == 1 && !own.empty() && at + 1 < words.size()) {
      inner.shape.emplace_back(own);
      inner.shape.push_back(words[at + 1]);
    }
    const std::size_t end = std::min(at + 1 + values, words.size());
    inner.options.emplace_back(words.begin() + static_cast<std::ptrdiff_t>(at),
                               words.begin() + static_cast<std::ptrdiff_t>(end));
    at += 1 + values;
  }
  if (at < words.size() && words[at] == "--") ++at;
  if (at < words.size()) inner.words.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return inner;
}

// "python -m torch.distributed.run" names its launcher behind "-m".
std::optional<std::size_t> module_position(const Command& program) {
  if (!is_python(program[0])) return std::nullopt;
  for (std::size_t i = 1; i + 1 < program.size() && program[i].starts_with('-'); ++i) {
    if (program[i] == "-m") return i + 1;
  }
  return std::nullopt;
}

// torchrun 2.5: --nnodes has the default 1:1, whatever the job has, and --nproc-per-node 1.
void read_torch_hosts(NestedLauncher& torch) {
  torch.forgets_hosts = true;
  for (const Command& option : torch.options) {
    const std::string name = option_name(option[0]);
    if (name == "nnodes" || name == "standalone") torch.forgets_hosts = false;
    const std::size_t equals = option[0].find('=');
    if (name != "nproc-per-node") continue;
    if (equals != std::string::npos) torch.processes = option[0].substr(equals + 1);
    if (equals == std::string::npos && option.size() > 1) torch.processes = option[1];
  }
}

}  // namespace

std::optional<NestedLauncher> find_nested_launcher(const Command& program) {
  if (program.empty()) return std::nullopt;
  const auto module = module_position(program);
  const std::size_t at = module.value_or(0);
  const std::string name(module ? std::string_view(program[at]) : base_name(program[0]));
  const LauncherSyntax* syntax = find_syntax(name);
  if (syntax == nullptr) return std::nullopt;
  std::size_t first = at + 1;
  if (name == "accelerate") {
    if (first >= program.size() || program[first] != "launch") return std::nullopt;
    ++first;
  }
  InnerWords inner = skip_options(*syntax, program, first);
  if (syntax->starts == Starts::python_script && !inner.is_plain && !inner.words.empty()) {
    if (inner.is_module) inner.words.insert(inner.words.begin(), "-m");
    inner.words.insert(inner.words.begin(), module ? program[0] : "python3");
  }
  NestedLauncher nested{name,
                        std::move(inner.words),
                        std::move(inner.shape),
                        std::move(inner.options),
                        syntax->stays_on_host,
                        syntax->of_mpi,
                        std::move(inner.unknown),
                        false,
                        ""};
  if (syntax->options == torchrun_flags) read_torch_hosts(nested);
  return nested;
}

}  // namespace ddlrun::frameworks
