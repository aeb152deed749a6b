// SPDX-License-Identifier: MIT
#include "doctor/diagnose/module_name.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::diagnose {

namespace {

using Name = std::string_view;

// On PyPI by the same name; those with a package of another name have a signature.
constexpr auto packages = std::to_array<Name>({"torch",      "torchvision",
                                               "torchaudio", "torchtext",
                                               "tensorflow", "tensorboard",
                                               "keras",      "jax",
                                               "flax",       "horovod",
                                               "mpi4py",     "numpy",
                                               "scipy",      "pandas",
                                               "matplotlib", "h5py",
                                               "lmdb",       "tqdm",
                                               "requests",   "transformers",
                                               "datasets",   "tokenizers",
                                               "accelerate", "deepspeed",
                                               "lightning",  "pytorch_lightning",
                                               "wandb",      "mlflow",
                                               "einops",     "timm",
                                               "ray",        "dask",
                                               "numba"});
constexpr auto of_python =
    std::to_array<Name>({"argparse", "collections", "contextlib", "dataclasses", "datetime", "functools",
                         "itertools", "logging", "multiprocessing", "pathlib", "pickle", "random", "shutil",
                         "signal", "socket", "subprocess", "threading", "typing"});

bool is_package(Name name) { return std::ranges::find(packages, name) != packages.end(); }

}  // namespace

std::optional<std::string> meant_module(std::string_view name) {
  constexpr std::size_t shortest = 5;  // of fewer letters too many names are one slip apart
  const std::string_view top = name.substr(0, name.find('.'));
  if (is_package(top) || top.size() + 1 < shortest) return std::nullopt;
  const auto is_meant = [&](Name known) {
    return known.size() >= shortest && edit_distance(to_lower(top), to_lower(known)) <= 1;
  };
  if (const auto found = std::ranges::find_if(packages, is_meant); found != packages.end())
    return std::string(*found);
  if (const auto found = std::ranges::find_if(of_python, is_meant); found != of_python.end())
    return std::string(*found);
  return std::nullopt;
}

void name_module(Finding& finding) {
  constexpr std::string_view mark = "is missing: ";
  const std::size_t at = finding.title.find(mark);
  if (finding.id != missing_module_id || at == std::string::npos) return;
  const std::string name = finding.title.substr(at + mark.size());
  const std::string top = name.substr(0, name.find('.'));
  const auto is_pip = [](const std::string& remedy) { return remedy.starts_with("python3 -m pip install "); };
  const auto pip = std::ranges::find_if(finding.remedies, is_pip);
  if (pip == finding.remedies.end()) return;
  if (is_package(top)) return;
  *pip = fmt::format(
      "find . -name {} -o -name {} -type d   # a file of your own? Then it must lie beside the program, or "
      "in "
      "PYTHONPATH",
      quote_shell(top + ".py"), quote_shell(top));
  if (const auto meant = meant_module(name)) {
    finding.title += fmt::format(" (did you mean {}?)", *meant);
    finding.remedies.insert(
        finding.remedies.begin(),
        fmt::format("grep -rnw {} --include='*.py' .   # did you mean {}? The program imports it",
                    quote_shell(top), *meant));
    return;
  }
  finding.remedies.push_back(fmt::format(
      "python3 -m pip install PACKAGE   # the one that has the module {}, with that Python, on every host",
      top));
}

}  // namespace ddlrun::diagnose
