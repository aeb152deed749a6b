// SPDX-License-Identifier: MIT
#include "runtime/models/net_library.hpp"

#include "base/text/text.hpp"
#include "runtime/models/net.hpp"
#include "runtime/models/net_yaml.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {
namespace {

[[noreturn]] void refuse_net_name(std::string_view name) {
  const std::vector<std::string> names = net_names();
  throw Error(ErrorKind::usage,
              {fmt::format("unknown net '{}': must be one of {}", printable(name), join(names, ", ")),
               "--net", "ddl-train --net " + closest_match(name, names).value_or("lenet5")});
}

}  // namespace

std::vector<std::string> net_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : builtin_nets()) names.push_back(name);
  return names;
}

Net build_net(std::string_view name, Shape input, int classes) {
  NetDescription net = parse_net_yaml(find_net_text(name), fmt::format("ddl-train print-net {}", name));
  net.name = name;
  return plan_net(net, input, classes);
}

std::string_view find_net_text(std::string_view name) {
  for (const auto& [known, text] : builtin_nets()) {
    if (known == name) return text;
  }
  refuse_net_name(name);
}

}  // namespace ddlrun::runtime
