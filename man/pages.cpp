// SPDX-License-Identifier: MIT
#include "man/pages.hpp"

#include "base/text/text.hpp"
#include "man/command_page.hpp"
#include "man/roff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ddlrun::man {

namespace {

constexpr std::string_view jobs_page = "jobs.md", profiles_page = "profiles_and_templates.md";

OutputFile render_config_page(const Sources& sources) {
  Page page("ddlrun-config", '5', sources.date, "ddlrun " + sources.version);
  page.section("Name").paragraph("ddlrun\\-config \\- the job file ddlrun.yaml, its keys, and site profiles");
  page.section("Synopsis")
      .lines(
          "./ddlrun.yaml\n~/.config/ddlrun/config.yaml\n/etc/ddlrun/config.yaml\n/etc/ddlrun/sites/"
          "NAME.yaml");
  page.section("Description").blocks(find_section(sources, std::string(jobs_page), "ddlrun.yaml", false));
  page.section("Keys");
  std::string group;
  for (const KeyRow& key : sources.reference.keys) {
    if (key.group != group) page.subsection(key.group);
    group = key.group;
    page.entry(fmt::format("\\fB{}:\\fR \\fI{}\\fR", escape_roff(key.name), escape_roff(key.value)),
               escape_roff(key.summary));
  }
  for (const std::string_view title : {"Files for all users", "A centre's profile", "Your own job script"})
    page.section(title).blocks(find_section(sources, std::string(profiles_page), title));
  page.section("See also")
      .references({"ddlrun-submit(1)", "ddlrun-config(1)", "ddlrun-convert(1)", "ddlrun(1)"});
  return {"man5/ddlrun-config.5", page.text()};
}

OutputFile render_rankfile_page(const Sources& sources) {
  Page page("ddlrun-rankfile", '5', sources.date, "ddlrun " + sources.version);
  page.section("Name").paragraph("ddlrun\\-rankfile \\- which rank runs on which host and cores");
  page.section("Description").blocks(find_section(sources, "rankfiles.md", "The format of a rankfile"));
  page.section("See also")
      .references({"ddlrun-gen-rankfile(1)", "ddlrun-check-rankfile(1)", "ddlrun-launch(1)", "mpirun(1)"});
  return {"man5/ddlrun-rankfile.5", page.text()};
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return escaped;
}

std::string indented(const std::string& lines) {
  std::string text;
  for (const std::string_view line : split(lines, '\n')) text += "    " + std::string(line) + "\n";
  return text;
}

std::string options_text(const Sources& sources) {
  std::string text = "# Options\n";
  for (const CommandReference& command : sources.reference.commands) {
    text += fmt::format("\n## {}\n\n{}\n\n{}\n| option | meaning |\n|---|---|\n", command.name,
                        command.summary, indented(command.usage));
    for (const auto* list : {&command.arguments, &command.options}) {
      for (const OptionReference& option : *list) {
        const std::string names = join(option.names, ", ");
        text += fmt::format("| `{}` | {}{} |\n",
                            cell(names + (option.value.empty() ? "" : " " + option.value)), cell(option.help),
                            option.choices.empty() ? "" : " (" + cell(join(option.choices, ", ")) + ")");
      }
    }
  }
  return text;
}

}  // namespace

std::vector<Block> find_section(const Sources& sources, const std::string& file, std::string_view title,
                                bool with_tables) {
  const auto found = sources.docs.find(file);
  std::vector<Block> section;
  if (found != sources.docs.end()) section = section_of(found->second, title);
  if (section.empty()) throw std::runtime_error(fmt::format("docs/{}: no section \"{}\"", file, title));
  if (!with_tables) std::erase_if(section, [](const Block& block) { return block.kind == BlockKind::table; });
  return section;
}

std::vector<OutputFile> render_pages(const Sources& sources) {
  std::vector<OutputFile> pages;
  for (const CommandReference& command : sources.reference.commands)
    if (has_page(command)) pages.push_back(render_command_page(command, sources));
  pages.push_back(render_config_page(sources));
  pages.push_back(render_rankfile_page(sources));
  return pages;
}

std::vector<OutputFile> render_reference(const Sources& sources) {
  std::string settings = "# Settings of a job\n\n| key | value | meaning |\n|---|---|---|\n";
  for (const KeyRow& key : sources.reference.keys)
    settings += fmt::format("| `{}` | {} | {} |\n", key.name, cell(key.value), cell(key.summary));
  std::string checks = "# Checks of ddlrun doctor\n";
  for (const CheckRow& check : sources.reference.checks)
    checks += fmt::format("\n## {}: {}\n\nLevel {}. {}\n\nRead: {}\n\nRemedy: {}\n", check.id, check.title,
                          check.level, check.why, check.how, check.remedy);
  std::string signatures =
      "# Signatures of ddlrun diagnose\n\n| id | class | title | cause |\n|---|---|---|---|\n";
  for (const SignatureRow& row : sources.reference.signatures)
    signatures +=
        fmt::format("| `{}` | {} | {} | {} |\n", row.id, row.kind, cell(row.title), cell(row.cause));
  std::string rules = "# Rules of ddlrun lint-script\n\n";
  for (const std::string& rule : sources.reference.rules) rules += fmt::format("- `{}`\n", rule);
  return {{"reference/options.md", options_text(sources)},
          {"reference/settings.md", settings},
          {"reference/checks.md", checks},
          {"reference/signatures.md", signatures},
          {"reference/lint_rules.md", rules}};
}

}  // namespace ddlrun::man
