// SPDX-License-Identifier: MIT
// Which checks are run, and what they found together.
#pragma once

#include "doctor/model/check.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::doctor {

struct CheckChoice {
  Level level = Level::quick;
  std::vector<std::string> only = {};  // ids or prefixes ("LIM-01", "GPU"); empty = all of the level
  std::vector<std::string> skip = {};
  std::vector<std::string> warn = {};  // a failure of these is a warning
};

// Error{usage} with the nearest id for one that does not exist.
std::vector<Check> choose_checks(const CheckChoice& choice, std::span<const Check> checks);

// With several paths, `only` gets the check that compares them: without it a path that reaches no host, or
// hands on other limits, is not reported. `skip` still leaves it out.
CheckChoice with_path_check(CheckChoice choice, std::size_t paths);

// Error{usage} likewise.
const Check& find_check(const std::string& id, std::span<const Check> checks);

// Runs each; one that throws is a finding of verdict `error`, not the end. `warn` as in CheckChoice.
std::vector<Finding> run_checks(std::span<const Check> checks, const CheckInput& input,
                                const std::vector<std::string>& warn = {});

struct Summary {
  std::array<int, 5> of{};  // checks by their worst verdict, indexed by Verdict
  int checks = 0;
  int operator[](Verdict verdict) const { return of[static_cast<std::size_t>(verdict)]; }
};
Summary count_checks(std::span<const Finding> findings);

}  // namespace ddlrun::doctor
