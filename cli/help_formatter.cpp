// SPDX-License-Identifier: MIT
#include "cli/help_formatter.hpp"

#include "base/text/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

namespace {

constexpr std::size_t help_column = 34;
constexpr std::size_t help_width = 110;

// `text` in lines of at most `width` columns, broken at blanks.
std::string wrap_words(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t column = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > width) {
      lines += '\n';
      column = 0;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

// "  --name VALUE" and its description from help_column on.
std::string render_option(const CLI::Option& option, bool is_argument) {
  std::string text = "  " + option.get_name(is_argument, true);
  // An argument needs no value name: its own name describes it.
  if (!is_argument && option.get_type_size() != 0) text += " " + option.get_type_name();
  const std::string indent(help_column, ' ');
  if (text.size() >= help_column)
    text += "\n" + indent;
  else
    text.resize(help_column, ' ');
  for (const char c : wrap_words(option.get_description(), help_width - help_column))
    text += c == '\n' ? "\n" + indent : std::string(1, c);
  return text + "\n";
}

// Written here in full: the layout of CLI11's own formatter differs between 2.3 and 2.6.
class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(bool takes_program) : takes_program_(takes_program) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string text =
        fmt::format("{}\n\nUsage: {}\n", app->get_description(), render_usage(*app, takes_program_));
    const auto add_group = [&](const std::string& title, bool is_argument, const auto& is_of_group) {
      std::string options;
      for (const CLI::Option* option : app->get_options(is_of_group))
        options += render_option(*option, is_argument);
      if (!options.empty()) text += fmt::format("\n{}:\n{}", title, options);
    };
    add_group("Arguments", true, [](const CLI::Option* option) {
      return option->get_positional() && !option->get_group().empty();
    });
    for (const std::string& group : app->get_groups()) {
      if (group.empty()) continue;
      add_group(group == "OPTIONS" ? "Options" : group, false, [&](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      });
    }
    return text;
  }

 private:
  bool takes_program_;
};

std::string paragraph(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("{}\n\n", text);
}

}  // namespace

std::string render_usage(const CLI::App& app, bool takes_program) {
  std::string usage = app.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : app.get_options(&CLI::Option::get_positional)) {
    if (option->get_group().empty()) continue;
    usage += option->get_required() ? " " + option->get_name() : " [" + option->get_name() + "]";
  }
  return usage + (takes_program ? " [-- PROGRAM [ARGUMENT...]]" : "");
}

std::string render_help(const Subcommand& command, CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>(command.takes_program));
  std::string options = app.help();
  const std::size_t end = options.find_last_not_of('\n');
  options.resize(end + 1);
  return fmt::format("{}\n\n{}Examples:\n{}\n", options, paragraph(command.notes), command.examples);
}

}  // namespace ddlrun::cli
