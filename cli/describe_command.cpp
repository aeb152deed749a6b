// SPDX-License-Identifier: MIT
#include "cli/describe_command.hpp"

#include "base/text/text.hpp"
#include "cli/help_formatter.hpp"
#include "cli/option_choices.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace ddlrun::cli {

namespace {

OptionReference describe_option(std::string_view command, const CLI::Option& option) {
  OptionReference described;
  if (option.get_positional()) described.names = {option.get_name()};
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  const bool is_flag = option.get_items_expected_max() == 0;
  described.values = is_flag ? 0 : option.get_type_size_max();  // --mca NAME VALUE has two
  described.value = described.values == 0 || option.get_positional() ? "" : option.get_type_name();
  described.help = option.get_description();
  described.group = option.get_positional() ? "Arguments" : option.get_group();
  described.required = option.get_required();
  described.repeatable = option.get_expected_max() > 1;
  add_choices(command, described);
  return described;
}

std::vector<std::string> paragraphs_of(std::string_view text) {
  std::vector<std::string> paragraphs(1);
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) {
      paragraphs.emplace_back();
    } else {
      paragraphs.back() += (paragraphs.back().empty() ? "" : "\n") + std::string(line);
    }
  }
  std::erase(paragraphs, "");
  return paragraphs;
}

}  // namespace

void declare_global_options(CLI::App& app, GlobalOptions& options) {
  app.set_help_flag("-h,--help", "print this help");
  app.add_flag("-v,--verbose", options.verbosity, "print each command run and each file written");
  app.add_flag("-q,--quiet", options.quiet, "print only errors, and the end of what failed");
}

CommandReference describe_command(const Subcommand& command) {
  CLI::App app{std::string(command.summary), "ddlrun " + std::string(command.name)};
  GlobalOptions options;
  declare_global_options(app, options);
  const Run unused = command.setup(app, {});
  CommandReference described;
  described.name = app.get_name();
  described.summary = command.summary;
  described.usage = render_usage(app, command.takes_program);
  described.description = paragraphs_of(command.notes);
  described.examples = command.examples;
  described.takes_program = command.takes_program;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    auto& list = option->get_positional() ? described.arguments : described.options;
    list.push_back(describe_option(command.name, *option));
  }
  return described;
}

CommandReference describe_program() {
  CommandReference program;
  program.name = "ddlrun";
  program.summary = "start distributed training on clusters, and explain why a job failed";
  program.usage = "ddlrun COMMAND [OPTIONS] [ARGUMENTS]\nddlrun help [COMMAND]";
  program.description = {
      "ddlrun starts the ranks of a training program with Open MPI, MPICH, Intel MPI, srun or ssh, on PBS "
      "and Slurm "
      "clusters and on servers without a scheduler. It binds each rank to its planned host, cores and GPU, "
      "checks the "
      "hosts before a job starts, and reports the cause when a job fails.",
      "ddlrun COMMAND --help, ddlrun help COMMAND and the page of a command list its options."};
  CLI::App app;
  GlobalOptions options;
  declare_global_options(app, options);
  app.set_version_flag("--version", "", "print the version");
  for (const CLI::Option* option : app.get_options()) program.options.push_back(describe_option("", *option));
  return program;
}

std::vector<CommandReference> describe_commands() {
  std::vector<CommandReference> all{describe_program()};
  for (const Subcommand& command : subcommands())
    if (!command.hidden) all.push_back(describe_command(command));
  return all;
}

}  // namespace ddlrun::cli
