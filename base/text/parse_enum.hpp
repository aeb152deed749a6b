// SPDX-License-Identifier: MIT
// An option that takes one word of a few.
#pragma once

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace ddlrun {

// What `word` of `option` ("--map-by") stands for. Error{usage} that names all of them, with "did you mean".
template <typename Value>
Value parse_enum(const std::string& option, const std::string& word,
                 const std::map<std::string, Value>& choices) {
  if (const auto found = choices.find(word); found != choices.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  throw Error(ErrorKind::usage, {fmt::format("'{}' is not one of {}", printable(word, 40), join(names, ", ")),
                                 option, option + " " + closest_match(word, names).value_or(names[0])});
}

}  // namespace ddlrun
