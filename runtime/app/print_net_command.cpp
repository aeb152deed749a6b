// SPDX-License-Identifier: MIT
#include "runtime/app/print_net_command.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/models/net.hpp"
#include "runtime/models/net_library.hpp"
#include "runtime/models/net_yaml.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ddlrun::runtime {
namespace {

std::string render_net_help() {
  const std::vector<std::string> names = net_names();
  return fmt::format(
      "Prints a built-in net as a YAML file to start from; without NAME, describes the format.\n\n"
      "usage: ddl-train print-net [NAME]\n\n"
      "Names: {}.\n\n{}\n"
      "Example:\n  ddl-train print-net lenet5 > mine.yaml; ddl-train --net mine.yaml\n",
      join(names, ", "), render_net_form());
}

}  // namespace

int run_print_net_command(const std::vector<std::string>& args) {
  try {
    if (args.size() > 1) {
      throw Error(ErrorKind::usage,
                  {fmt::format("print-net takes one name, but was given {} arguments", args.size()),
                   "command line", "ddl-train print-net " + quote_shell(args.front())});
    }
    const bool help = args.empty() || args.front() == "--help" || args.front() == "-h";
    fmt::print("{}", help ? render_net_help() : std::string(find_net_text(args.front())));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error("ddl-train print-net", error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace ddlrun::runtime
