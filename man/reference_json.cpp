// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "man/reference.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::man {

namespace {

using Json = nlohmann::json;

std::vector<OptionReference> read_options(const Json& array) {
  std::vector<OptionReference> options;
  for (const Json& one : array) {
    OptionReference option;
    one.at("names").get_to(option.names);
    one.at("value").get_to(option.value);
    one.at("help").get_to(option.help);
    one.at("group").get_to(option.group);
    one.at("choices").get_to(option.choices);
    one.at("required").get_to(option.required);
    one.at("repeatable").get_to(option.repeatable);
    options.push_back(std::move(option));
  }
  return options;
}

CommandReference read_command(const Json& one) {
  CommandReference command;
  one.at("name").get_to(command.name);
  one.at("summary").get_to(command.summary);
  one.at("usage").get_to(command.usage);
  one.at("description").get_to(command.description);
  one.at("examples").get_to(command.examples);
  command.arguments = read_options(one.at("arguments"));
  command.options = read_options(one.at("options"));
  return command;
}

}  // namespace

void read_reference(std::string_view json, Reference& reference) {
  const Json document = Json::parse(json);
  for (const Json& one : document.at("commands")) reference.commands.push_back(read_command(one));
  if (!document.contains("checks")) return;
  for (const Json& one : document.at("checks"))
    reference.checks.push_back(
        {one.at("id"), one.at("title"), one.at("level"), one.at("why"), one.at("how"), one.at("remedy")});
  for (const Json& one : document.at("signatures"))
    reference.signatures.push_back({one.at("id"), one.at("class"), one.at("title"), one.at("cause")});
  for (const Json& one : document.at("keys"))
    reference.keys.push_back({one.at("name"), one.at("group"), one.at("value"), one.at("summary")});
  const std::string rules = document.at("rules");
  for (const std::string_view line : split(rules, '\n'))
    if (!trim(line).empty()) reference.rules.emplace_back(line);
}

}  // namespace ddlrun::man
