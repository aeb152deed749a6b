// SPDX-License-Identifier: MIT
#include "base/text/command_reference.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun {

namespace {

using Json = nlohmann::ordered_json;

Json option_json(const OptionReference& option) {
  return {{"names", option.names},       {"value", option.value},          {"help", option.help},
          {"group", option.group},       {"choices", option.choices},      {"values", option.values},
          {"required", option.required}, {"repeatable", option.repeatable}};
}

Json options_json(const std::vector<OptionReference>& options) {
  Json array = Json::array();
  for (const OptionReference& option : options) array.push_back(option_json(option));
  return array;
}

}  // namespace

std::string render_commands_json(const std::vector<CommandReference>& commands) {
  Json array = Json::array();
  for (const CommandReference& command : commands) {
    array.push_back({{"name", command.name},
                     {"summary", command.summary},
                     {"usage", command.usage},
                     {"description", command.description},
                     {"arguments", options_json(command.arguments)},
                     {"options", options_json(command.options)},
                     {"examples", command.examples}});
  }
  return Json{{"schema", "ddlrun.commands/1"}, {"commands", array}}.dump(1) + "\n";
}

}  // namespace ddlrun
