// SPDX-License-Identifier: MIT
// What stands around the program: modules, conda or venv, variables, the site's and the user's own lines.
#include "base/error.hpp"
#include "base/secret_name.hpp"
#include "base/text.hpp"
#include "schedulers/script_forms.hpp"
#include "schedulers/setting_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

// A name that its tool would take for an option is none.
std::string no_option(const std::string& word, const char* key) {
  if (!word.empty() && word[0] != '-') return shell_word(word);
  throw Error(ErrorKind::request, {fmt::format("{}: '{}' is no name", key, printable(word, 60)), key,
                                   "a name that does not begin with '-'"});
}

// A line of shell that is the user's own business, but must arrive as it is.
void append_verbatim(Lines& lines, const Lines& own, const char* key) {
  for (const std::string& line : own) {
    if (line.find_first_of(std::string_view("\r\0", 2)) != std::string::npos) {
      throw Error(ErrorKind::request,
                  {fmt::format("{}: '{}' holds a carriage return or a NUL byte", key, printable(line, 60)),
                   key, "lines that end as Unix files' do: dos2unix"});
    }
    lines.push_back(line);
  }
}

Lines module_lines(const JobSpec& job) {
  if (job.modules.empty()) return {};
  Lines lines{
      "",
      "# Modules. A batch shell may not have read the file that defines the command.",
      "if ! type module >/dev/null 2>&1; then",
      "  for ddl_file in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh \\",
      "    /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash; do",
      "    # shellcheck source=/dev/null",
      "    if [ -r \"$ddl_file\" ]; then . \"$ddl_file\" && break; fi",
      "  done",
      "fi",
      "type module >/dev/null 2>&1 ||",
      "  ddl_fail 'there is no module command on this host' 'the job without modules, or another --queue'"};
  if (job.purge_modules) lines.emplace_back("module purge");
  std::string names;
  for (const std::string& name : job.modules) names += " " + no_option(name, "modules");
  lines.push_back("module load" + names + " ||");
  lines.push_back("  ddl_fail " + shell_word("a module could not be loaded, of" + names) +
                  " 'module avail   # names the ones that are there'");
  return lines;
}

Lines python_lines(const JobSpec& job) {
  Lines lines;
  if (!job.conda.empty()) {
    append(
        lines,
        {"", "# The conda environment. A batch shell has conda, if at all, without its shell function.",
         "command -v conda >/dev/null ||",
         "  ddl_fail 'there is no conda on this host' 'modules: [the one that brings conda]; module avail'",
         "eval \"$(conda shell.bash hook)\"", "conda activate " + no_option(job.conda, "conda") + " ||",
         "  ddl_fail " + shell_word("the conda environment " + job.conda + " could not be activated") +
             " 'conda env list   # names those that are there'"});
  }
  if (!job.venv.empty()) {
    append(lines,
           {"", "# The virtual environment.", "# shellcheck source=/dev/null",
            ". " + no_option(job.venv + "/bin/activate", "venv") + " ||",
            "  ddl_fail " + shell_word("the virtual environment " + job.venv + " could not be activated") +
                " \"python3 -m venv $(printf %q " + shell_word(job.venv) + ")   # makes it\""});
  }
  return lines;
}

Lines export_lines(const JobSpec& job) {
  Lines lines;
  for (const std::string& entry : job.environment) {
    if (is_wildcard(entry)) continue;
    const std::string name = variable_name(entry);
    if (entry.size() == name.size()) continue;
    if (lines.empty()) append(lines, {"", "# Variables of the job."});
    const std::string value = shell_word(std::string_view(entry).substr(name.size() + 1));
    lines.push_back("export " + name + "=" + value);
  }
  return lines;
}

Lines own_lines(const Lines& own, const char* key, const char* title) {
  if (own.empty()) return {};
  Lines lines{"", fmt::format("# --- {}", title)};
  append_verbatim(lines, own, key);
  lines.push_back(fmt::format("# --- end of {}", title));
  return lines;
}

}  // namespace

std::vector<std::string> matching_variables(const std::vector<std::string>& entries,
                                            const EnvVars& environment) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment) {
    const auto names_it = [&](const std::string& entry) { return entry.substr(0, entry.find('=')) == name; };
    const auto means_it = [&](const std::string& entry) {
      return is_wildcard(entry) && name.starts_with(std::string_view(entry).substr(0, entry.size() - 1));
    };
    const bool meant = std::any_of(entries.begin(), entries.end(), means_it) &&
                       std::none_of(entries.begin(), entries.end(), names_it);
    if (meant && !is_secret_name(name) && is_name(NameKind::variable, name)) names.push_back(name);
  }
  return names;
}

Lines environment_lines(const JobSpec& job, const Lines& preamble) {
  Lines inner = module_lines(job);
  append(inner, own_lines(preamble, "preamble", "the site's own lines"));
  append(inner, python_lines(job));
  append(inner, export_lines(job));
  append(inner, own_lines(job.setup, "setup", "the job's own lines"));
  if (inner.empty()) return inner;
  // Files of modules and conda read variables that are not set.
  Lines lines{"", "set +u"};
  append(lines, inner);
  append(lines, {"", "set -u"});
  return lines;
}

}  // namespace ddlrun::schedulers
