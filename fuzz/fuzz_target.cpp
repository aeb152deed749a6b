// SPDX-License-Identifier: MIT
#include "fuzz/fuzz_target.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace ddlrun::fuzz {

std::vector<Target>& linked_targets() {
  static std::vector<Target> targets;
  return targets;
}

bool add_target(const char* name, void (*run)(std::string_view input)) {
  linked_targets().push_back({name, run});
  return true;
}

void require(bool holds, std::string_view property, std::string_view found) {
  if (holds) return;
  fmt::print(stderr, "property does not hold: {}\n{}\n", property, printable(found, 2000));
  std::abort();
}

void require_printable(std::string_view text) {
  for (const std::string_view line : split(text, '\n'))
    require(printable(line, SIZE_MAX) == line, "printed text has no control characters", line);
}

void require_message(const Message& message) {
  require(!message.what.empty() && !message.hint.empty(), "an error has a reason and a remedy", message.what);
  require_printable(render_error("ddlrun", message));
}

}  // namespace ddlrun::fuzz
