// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "man/command_page.hpp"
#include "man/roff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::man {

namespace {

// The section of docs/ that describes a command; `titles` separated by '|'.
struct Prose {
  std::string_view command, file, titles;
};
constexpr auto prose = std::to_array<Prose>({
    {"ddlrun topo", "rankfiles.md", "Show a machine"},
    {"ddlrun gen-rankfile", "rankfiles.md", "Write a rankfile"},
    {"ddlrun check-rankfile", "rankfiles.md", "Check a rankfile"},
    {"ddlrun launch", "launch.md",
     "Start ranks|Ranks and hosts|Several hosts|Launchers|Environment of the ranks|Verify places|Watch a run|"
     "Output of the ranks|Restart after a failure|Several programs at once|Result of rank 0|Limits"},
    {"ddlrun intelcaffe", "frameworks.md", "Intel Caffe"},
    {"ddlrun top", "launch.md", "Look at a run while it goes on"},
    {"ddlrun history", "launch.md", "History, replay and report"},
    {"ddlrun report", "launch.md", "History, replay and report"},
    {"ddlrun replay", "launch.md", "History, replay and report"},
    {"ddlrun bench", "benchmarks.md", "Sums over ranks|Scaling of training|Forecast for more hosts|Limits"},
    {"ddlrun doctor", "doctor.md",
     "Check one job|Levels and selection|Thousands of hosts|Explain and fix|Compare with the last good run|"
     "The checks|Limits"},
    {"ddlrun diagnose", "diagnose.md", "Find the first cause in a log|Limits"},
    {"ddlrun submit", "jobs.md", "Submit a job|Limits"},
    {"ddlrun status", "jobs.md", "Follow jobs"},
    {"ddlrun jobs", "jobs.md", "Follow jobs"},
    {"ddlrun logs", "jobs.md", "Follow jobs"},
    {"ddlrun wait", "jobs.md", "Follow jobs"},
    {"ddlrun cancel", "jobs.md", "Follow jobs"},
    {"ddlrun resubmit", "jobs.md", "Follow jobs"},
    {"ddlrun lint-script", "jobs.md", "Check a job script"},
    {"ddlrun convert", "jobs.md", "Convert a job script"},
    {"ddlrun config", "profiles_and_templates.md", "Files for all users"},
    {"ddl-train", "training.md",
     "Train on your own images|Data|Nets and training|Caffe's files unchanged|GPUs|Parameter servers|"
     "Checkpoints and resuming|Monitoring|Limits"},
    {"ddl-bench", "benchmarks.md", "Sums over ranks|Limits"},
});

// Commands that a reader of one page also looks for.
constexpr auto families = std::to_array<std::string_view>({
    "topo gen-rankfile check-rankfile launch",
    "launch top history report replay diagnose doctor bench",
    "submit status top jobs logs wait cancel resubmit lint-script convert config doctor",
    "intelcaffe launch",
});

constexpr std::string_view status_page = "exit_status_and_files.md";

std::string page_name(std::string_view command) {
  std::string name(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = to_upper(text.substr(0, 1))[0];
  return text;
}

std::string option_head(const OptionReference& option) {
  std::string head;
  for (const std::string& name : option.names)
    head += (head.empty() ? "\\fB" : ", \\fB") + escape_roff(name) + "\\fR";
  if (!option.value.empty()) head += " \\fI" + escape_roff(option.value) + "\\fR";
  return head;
}

// Groups in the order in which they begin, the general one first.
void add_options(Page& page, const std::vector<OptionReference>& options) {
  std::vector<std::string> groups{"Arguments", "Options"};
  for (const OptionReference& option : options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    bool is_first = i >= 2;
    for (const OptionReference& option : options) {
      if (option.group != groups[i]) continue;
      if (is_first) page.subsection(option.group);
      is_first = false;
      page.entry(option_head(option), escape_roff(option.help));
    }
  }
}

// The general table, then the command's own row.
void add_exit_status(Page& page, const CommandReference& command, const Sources& sources) {
  page.section("Exit status");
  const std::string word = "`" + command.name.substr(command.name.rfind(' ') + 1);
  for (const Block& block : find_section(sources, std::string(status_page), "Exit statuses")) {
    if (block.kind != BlockKind::table) continue;
    if (block.rows[0][0] == "status" || command.name == "ddlrun") {
      page.blocks({block});
      continue;
    }
    for (const auto& row : block.rows) {
      const auto names = split(row[0], ',');
      const bool is_own = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return trim(name) == word + "`" || trim(name).starts_with(word + " ");
      });
      if (is_own) page.paragraph("Of this command: " + escape_inline(row[1]) + ".");
    }
  }
}

// Commands without a page of their own, such as "ddl-train predict".
void add_subcommands(Page& page, const std::string& program, const Sources& sources) {
  bool is_first = true;
  for (const CommandReference& command : sources.reference.commands) {
    if (!command.name.starts_with(program + " ")) continue;
    if (is_first) page.section("Commands");
    is_first = false;
    if (program == "ddlrun") {
      page.entry(fmt::format("\\fB{}\\fR(1)", escape_roff(page_name(command.name))),
                 escape_roff(command.summary));
      continue;
    }
    page.subsection(command.name)
        .paragraph(escape_roff(capitalized(command.summary) + ":"))
        .lines(command.usage);
    // check-options takes the options of a training.
    if (command.options.size() < 20) add_options(page, command.options);
  }
}

std::vector<std::string> related_pages(const CommandReference& command) {
  std::vector<std::string> pages;
  const std::string own = command.name.substr(command.name.rfind(' ') + 1);
  if (command.name != "ddlrun") pages.emplace_back("ddlrun(1)");
  for (const std::string_view family : families) {
    const auto names = split(family, ' ');
    if (std::find(names.begin(), names.end(), own) == names.end()) continue;
    for (const std::string_view name : names) {
      const std::string page = fmt::format("ddlrun-{}(1)", name);
      if (name != own && std::find(pages.begin(), pages.end(), page) == pages.end()) pages.push_back(page);
    }
  }
  if (command.name.starts_with("ddl-")) pages.emplace_back("ddlrun-launch(1)");
  if (command.name == "ddlrun") pages = {"ddl-train(1)", "ddl-bench(1)"};
  pages.insert(pages.end(), {"ddlrun-config(5)", "ddlrun-rankfile(5)"});
  return pages;
}

void add_prose(Page& page, const CommandReference& command, const Sources& sources) {
  for (const std::string& paragraph : command.description) page.paragraph(escape_roff(paragraph));
  if (command.description.empty()) page.paragraph(escape_roff(capitalized(command.summary) + "."));
  for (const Prose& row : prose) {
    if (row.command != command.name) continue;
    for (const std::string_view title : split(row.titles, '|')) {
      std::vector<Block> section = find_section(sources, std::string(row.file), title);
      // OPTIONS has them all.
      std::erase_if(section, [](const Block& block) {
        return block.kind == BlockKind::table && block.rows[0][0] == "option";
      });
      if (!section.empty()) page.subsection(title).blocks(section);
    }
  }
}

}  // namespace

bool has_page(const CommandReference& command) {
  return command.name.starts_with("ddlrun") || command.name.find(' ') == std::string::npos;
}

OutputFile render_command_page(const CommandReference& command, const Sources& sources) {
  const std::string name = page_name(command.name);
  const bool is_program = command.name.find(' ') == std::string::npos;
  Page page(name, '1', sources.date, "ddlrun " + sources.version);
  page.section("Name").paragraph(escape_roff(name) + " \\- " + escape_roff(command.summary));
  page.section("Synopsis").lines(command.usage);
  page.section("Description");
  add_prose(page, command, sources);
  if (is_program) add_subcommands(page, command.name, sources);
  page.section("Options");
  add_options(page, command.arguments);
  add_options(page, command.options);
  add_exit_status(page, command, sources);
  if (command.name == "ddlrun") {
    page.section("Environment")
        .blocks(find_section(sources, std::string(status_page), "Environment variables"));
    page.section("Files").blocks(find_section(sources, std::string(status_page), "Files and directories"));
  } else {
    page.section("Environment").paragraph("\\fBddlrun\\fR(1) lists the variables and files of all commands.");
  }
  if (!command.examples.empty()) page.section("Examples").lines(command.examples);
  page.section("See also").references(related_pages(command));
  return {fmt::format("man1/{}.1", name), page.text()};
}

}  // namespace ddlrun::man
