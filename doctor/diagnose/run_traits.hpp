// SPDX-License-Identifier: MIT
// What a log or a job shows of the program and of where it ran, and the remedies that fit it. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

struct RunTraits {
  std::optional<bool> is_python = {};  // not known of many logs
  bool of_torch = false;
  bool of_slurm = false;
  bool in_container = false;
  bool under_gdb = false;
  bool ended_at_stall = false;  // launch ended it, as --on-stall end asks
};

// The texts of a log that show a trait.
struct TraitText {
  std::string_view text;
  bool RunTraits::*trait = nullptr;  // nullptr: `is_python`
};
std::span<const TraitText> trait_texts();
void note_trait(RunTraits& traits, const TraitText& shown);

// The kind of program that this command starts: a shell script is of neither kind.
std::optional<bool> starts_python(const std::vector<std::string>& program);

// The exit status of a run that launch ended at a stall: what it means there.
constexpr int stall_status = 124;
constexpr std::string_view stall_meaning = "the job stalled, and --on-stall end ended it";

// Of Python, what shows the line of the program is first. What the traits exclude is left out, if another
// remedy stays. A command for a container is last where nothing names one.
void fit_to_traits(std::vector<std::string>& remedies, const RunTraits& traits);

}  // namespace ddlrun::diagnose
