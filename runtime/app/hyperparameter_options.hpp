// SPDX-License-Identifier: MIT
// Options about batch, learning rate, optimizer and gradient reduction: rows of the table in
// train_options.cpp, and checks of their combinations.
#pragma once

#include "runtime/app/train_options.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

// A heading, or an option; `apply` receives (options, option name, value).
struct OptionRow {
  const char* name;
  const char* value;
  const char* help;
  void (*apply)(TrainOptions&, const std::string&, const std::string&);
};

constexpr std::uint64_t max_count = 1'000'000'000;

std::span<const OptionRow> hyperparameter_rows();
// The values of an option whose help does not have them in its value name; else none.
std::span<const std::string> hyperparameter_choices(std::string_view option);
// Throws Error(usage) for conflicting options.
void check_hyperparameter_options(const TrainOptions& options);

}  // namespace ddlrun::runtime
