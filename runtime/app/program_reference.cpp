// SPDX-License-Identifier: MIT
#include "runtime/app/program_reference.hpp"

#include "base/text/completion.hpp"
#include "runtime/app/allreduce_command.hpp"
#include "runtime/app/convert_data_command.hpp"
#include "runtime/app/model_commands.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/app/read_data_command.hpp"
#include "runtime/app/train_options.hpp"
#include "runtime/models/net.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <span>

namespace ddlrun::runtime {

namespace {

OptionReference argument(std::string name, std::string source, bool required, bool repeatable = false) {
  OptionReference described;
  described.names = {std::move(name)};
  described.source = std::move(source);
  described.group = "Arguments";
  described.values = 1;
  described.required = required;
  described.repeatable = repeatable;
  return described;
}

std::vector<OptionReference> arguments_of(std::string_view command) {
  if (command == "test") return {argument("CHECKPOINT", "files", true)};
  if (command == "predict") return {argument("PHOTO", "files", true, true)};
  if (command == "convert-data") return {argument("FROM", "files", true), argument("TO", "files", true)};
  if (command == "read-data") return {argument("PATH", "files", false)};
  if (command == "timeline") return {argument("FILE", "files", true)};
  if (command == "check-options") return {argument("RANKS", "", true)};
  if (command != "print-net") return {};
  OptionReference net = argument("NAME", "", false);
  net.choices = net_names();
  return {net};
}

std::vector<OptionReference> options_of(std::string_view command) {
  if (command == "test") return describe_test_options();
  if (command == "predict") return describe_predict_options();
  if (command == "convert-data") return describe_convert_options();
  if (command == "read-data") return describe_read_data_options();
  if (command == "allreduce") return describe_allreduce_options();
  if (command == "check-options") return describe_train_options();
  return {};
}

std::vector<Candidate> command_names() {
  std::vector<Candidate> names{{"train", "train a net (default)"}};
  for (const CommandRow& row : command_rows())
    names.push_back({std::string(row.name), std::string(row.help)});
  return names;
}

}  // namespace

std::vector<CommandReference> describe_train_commands() {
  CommandReference train;
  train.name = "ddl-train";
  train.summary = "train an image classifier on one rank or on many";
  train.usage =
      "ddl-train [train] [OPTIONS]\nmpirun -n RANKS ddl-train [OPTIONS]\nddl-train COMMAND [ARGUMENTS]";
  train.description = {std::string(train_description())};
  train.options = describe_train_options();
  train.examples = train_examples();
  std::vector<CommandReference> all{std::move(train)};
  for (const CommandRow& row : command_rows()) {
    CommandReference command;
    command.name = fmt::format("ddl-train {}", row.name);
    command.summary = row.help;
    command.usage = fmt::format("{}ddl-train {}", row.name == "allreduce" ? "mpirun ... " : "", row.usage);
    command.arguments = arguments_of(row.name);
    command.options = options_of(row.name);
    all.push_back(std::move(command));
  }
  return all;
}

int run_reference_command(const std::vector<std::string>&) {
  fmt::print("{}", render_commands_json(describe_train_commands()));
  return 0;
}

int run_complete_command(const std::vector<std::string>& args) {
  const std::vector<CommandReference> commands = describe_train_commands();
  const auto none = [](std::string_view) { return std::vector<Candidate>(); };
  const CommandReference* command = &commands.front();
  std::size_t behind = 0;
  for (const CommandReference& one : commands) {
    if (args.size() > 1 && one.name == "ddl-train " + args[0]) {
      command = &one;
      behind = 1;
    }
  }
  if (args.size() > 1 && args[0] == "train") behind = 1;
  Completion completion = complete_command(*command, std::span(args).subspan(behind), none);
  if (args.size() == 1 && !args[0].starts_with('-'))
    completion.candidates = select_candidates(command_names(), args[0]);
  fmt::print("{}", render_completion(completion));
  return 0;
}

}  // namespace ddlrun::runtime
