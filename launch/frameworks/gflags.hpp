// SPDX-License-Identifier: MIT
// Options as Google's gflags takes them, which Caffe uses: -gpu 0, --gpu 0, -gpu=0, --gpu=0.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::frameworks {

struct Gflag {
  std::string typed;                 // "-gpu"
  std::optional<std::string> value;  // nothing: it is the last word
};

// The last one counts, as there. Words behind "--" are none.
std::optional<Gflag> find_gflag(const Command& program, std::string_view name);

}  // namespace ddlrun::frameworks
