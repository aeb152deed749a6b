// SPDX-License-Identifier: MIT
// The flags about a program's framework: --framework, task counts, Horovod's settings.
#pragma once

#include "launch/plan/framework_options.hpp"

namespace CLI {
class App;
}

namespace ddlrun::cli {

// `options` must outlive `app`.
void add_framework_options(CLI::App& app, FrameworkOptions& options);

}  // namespace ddlrun::cli
