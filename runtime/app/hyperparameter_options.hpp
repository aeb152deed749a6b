// SPDX-License-Identifier: MIT
// The options of ddl-train that say how weights learn: rows of the table of train_options.cpp, and what they
// mean together.
#pragma once

#include "runtime/app/train_options.hpp"

#include <span>
#include <string>

namespace ddlrun::runtime {

// A heading, or an option whose `apply` gets (options, option name, value).
struct OptionRow {
  const char* name;
  const char* value;
  const char* help;
  void (*apply)(TrainOptions&, const std::string&, const std::string&);
};

constexpr std::uint64_t max_count = 1'000'000'000;

std::span<const OptionRow> hyperparameter_rows();
// Throws Error(usage) for what contradicts itself.
void check_hyperparameter_options(const TrainOptions& options);

}  // namespace ddlrun::runtime
