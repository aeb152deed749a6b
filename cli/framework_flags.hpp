// SPDX-License-Identifier: MIT
// The flags about a program's framework: --framework, task counts, Horovod's settings.
#pragma once

#include "launch/plan/launch_flags.hpp"

namespace CLI {
class App;
}

namespace ddlrun::cli {

// `flags` must outlive `app`.
void add_framework_options(CLI::App& app, launch::FrameworkFlags& flags);

}  // namespace ddlrun::cli
