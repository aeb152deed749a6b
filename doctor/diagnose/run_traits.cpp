// SPDX-License-Identifier: MIT
#include "doctor/diagnose/run_traits.hpp"

#include "base/text/interpreter.hpp"
#include "doctor/diagnose/remedy_text.hpp"
#include "doctor/diagnose/submit_remedies.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::diagnose {

namespace {

// A comment that begins with these words says for which runs its remedy is.
constexpr std::string_view for_python = "of Python", for_torch = "of PyTorch",
                           for_compiled = "of compiled code", under_slurm = "under Slurm";

constexpr std::array<TraitText, 26> known_texts{{
    {"Traceback (most recent call last)", nullptr},
    {"Fatal Python error", nullptr},
    {"site-packages/", nullptr},
    {"dist-packages/", nullptr},
    {"/lib/python", nullptr},
    {"PyTorch", &RunTraits::of_torch},
    {"torch/", &RunTraits::of_torch},
    {"torch.", &RunTraits::of_torch},
    {"libtorch", &RunTraits::of_torch},
    {"libc10", &RunTraits::of_torch},
    {"c10::Error", &RunTraits::of_torch},
    {"c10::Dist", &RunTraits::of_torch},
    {"ProcessGroup", &RunTraits::of_torch},
    {"slurmstepd", &RunTraits::of_slurm},
    {"srun: ", &RunTraits::of_slurm},
    {"SLURM_", &RunTraits::of_slurm},
    {"StepId=", &RunTraits::of_slurm},
    {"docker", &RunTraits::in_container},
    {"apptainer", &RunTraits::in_container},
    {"singularity", &RunTraits::in_container},
    {"podman", &RunTraits::in_container},
    {"enroot", &RunTraits::in_container},
    {"kubernetes", &RunTraits::in_container},
    {"container", &RunTraits::in_container},
    {" received signal SIG", &RunTraits::under_gdb},
    {"ddlrun: the job is ended, as --on-stall", &RunTraits::ended_at_stall},
}};

bool is_for(const std::string& remedy, std::string_view kind) {
  const std::string comment = split_remedy(remedy).comment;
  return std::string_view(comment).substr(std::min(comment.size(), comment_mark.size())).starts_with(kind);
}

bool is_for_container(const std::string& remedy) {
  return starts_with_any(remedy, {"docker run ", "apptainer exec ", "singularity exec ", "podman run "}) ||
         has(remedy, "   # in a container");
}

bool is_excluded(const std::string& remedy, const RunTraits& traits) {
  const bool is_python = traits.is_python.value_or(true), is_compiled = !traits.is_python.value_or(false);
  return (!is_python && is_for(remedy, for_python)) || (!is_compiled && is_for(remedy, for_compiled)) ||
         (!traits.of_torch && is_for(remedy, for_torch)) ||
         (!traits.of_slurm && is_for(remedy, under_slurm)) ||
         (traits.under_gdb && has(remedy, "gdb -batch "));
}

}  // namespace

std::span<const TraitText> trait_texts() { return known_texts; }

void note_trait(RunTraits& traits, const TraitText& shown) {
  if (shown.trait == nullptr)
    traits.is_python = true;
  else
    traits.*shown.trait = true;
}

std::optional<bool> starts_python(const std::vector<std::string>& program) {
  if (program.empty() || is_shell(program.front())) return std::nullopt;
  return is_python(program.front()) || program.front().ends_with(".py");
}

void fit_to_traits(std::vector<std::string>& remedies, const RunTraits& traits) {
  std::vector<std::string> fitted;
  for (const std::string& remedy : remedies) {
    std::string text = traits.ended_at_stall ? without_stall_advice(remedy) : remedy;
    if (!text.empty() && !is_excluded(text, traits)) fitted.push_back(std::move(text));
  }
  if (fitted.empty()) return;
  if (traits.is_python.value_or(false))
    std::ranges::stable_partition(fitted, [](const std::string& remedy) {
      return is_for(remedy, for_python) || is_for(remedy, for_torch);
    });
  if (!traits.in_container)
    std::ranges::stable_partition(fitted,
                                  [](const std::string& remedy) { return !is_for_container(remedy); });
  remedies = std::move(fitted);
}

}  // namespace ddlrun::diagnose
