// SPDX-License-Identifier: MIT
// Options of other trainers (scripts of PyTorch, Keras, fastai and Caffe) and what stands for them here.
#pragma once

#include <span>
#include <string_view>

namespace ddlrun::runtime {

// `ours`: an option that differs too much for a comparison of letters. `value`: ours, where theirs has
// another meaning; "" for the value that was typed.
struct OtherWord {
  std::string_view theirs, ours, value = "";
};
// Several rows of one word are in the order in which they are tried.
std::span<const OtherWord> other_words();

// What no option does here, and what to type instead.
struct MissingOption {
  std::string_view theirs, fact, hint;
};
// `name`: with dashes for underscores. Null where there is none.
const MissingOption* find_missing_option(std::string_view name);

// Whether `name`, with dashes, is an option of `ddlrun launch` and not of ddl-train.
bool is_launch_option(std::string_view name);

}  // namespace ddlrun::runtime
