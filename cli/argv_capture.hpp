// SPDX-License-Identifier: MIT
// The words of a command line that has been parsed, to be kept and parsed again.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ddlrun::cli {

// Options with their values, then positional words. Of "-x NAME=value" only the name: values may be secrets.
std::vector<std::string> captured_arguments(const CLI::App& app);

}  // namespace ddlrun::cli
