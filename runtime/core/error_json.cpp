// SPDX-License-Identifier: MIT
#include "runtime/core/error_json.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::runtime {

using FailureJson = nlohmann::json;

std::string render_failure(const Failure& failure) {
  const FailureJson json{{"kind", static_cast<int>(failure.kind)},
                         {"what", failure.message.what},
                         {"where", failure.message.where},
                         {"hint", failure.message.hint},
                         {"from", failure.from}};
  return json.dump(-1, ' ', false, FailureJson::error_handler_t::replace);  // paths need not be UTF-8
}

std::optional<Failure> parse_failure(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto json = FailureJson::parse(text);
  return Failure{static_cast<ErrorKind>(json.at("kind").get<int>()),
                 {json.at("what"), json.at("where"), json.at("hint")},
                 json.at("from")};
}

}  // namespace ddlrun::runtime
