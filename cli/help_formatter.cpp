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

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(bool takes_program) : takes_program_(takes_program) {
    column_width(help_column);
    label("Positionals", "Arguments");
  }

  std::string make_usage(const CLI::App* app, std::string) const override {
    return fmt::format("\nUsage: {}\n", render_usage(*app, takes_program_));
  }

  // An argument needs no value name: its own name describes it.
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool has_value = !option->get_positional() && option->get_type_size() != 0;
    return has_value ? " " + option->get_type_name() : "";
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrap_words(option->get_description(), help_width - help_column);
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
