// SPDX-License-Identifier: MIT
#include "launch/frameworks/gflags.hpp"

namespace ddlrun::frameworks {

std::optional<Gflag> find_gflag(const Command& program, std::string_view name) {
  std::optional<Gflag> found;
  for (std::size_t i = 1; i < program.size() && program[i] != "--"; ++i) {
    const std::string_view word = program[i];
    const std::size_t dashes = word.starts_with("--") ? 2 : word.starts_with('-') ? 1 : 0;
    if (dashes == 0) continue;
    const std::string_view rest = word.substr(dashes);
    const std::size_t equals = rest.find('=');
    if (rest.substr(0, equals) != name) continue;
    Gflag flag{std::string(word.substr(0, dashes)) + std::string(name), std::nullopt};
    if (equals != std::string_view::npos) {
      flag.value = std::string(rest.substr(equals + 1));
    } else if (i + 1 < program.size()) {
      flag.value = program[++i];
    }
    found = flag;
  }
  return found;
}

}  // namespace ddlrun::frameworks
