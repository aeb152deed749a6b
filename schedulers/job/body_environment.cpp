// SPDX-License-Identifier: MIT
// What stands around the program: modules, conda or venv, variables, the site's and the user's own lines.
#include "base/text/error.hpp"
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/job/script_fragment.hpp"
#include "schedulers/job/setting_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

// A quoted name. A tool would read a name that begins with '-' as an option.
std::string option_safe_word(const std::string& word, const char* key) {
  if (!word.empty() && word[0] != '-') return shell_word(word);
  throw Error(ErrorKind::request, {fmt::format("{}: invalid name '{}'", key, printable(word, 60)), key,
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
  std::vector<std::string> names;
  for (const std::string& name : job.modules) names.push_back(option_safe_word(name, "modules"));
  const std::string loaded = join(names, " ");
  const Lines purge = job.purge_modules ? Lines{"module purge"} : Lines{};
  return script_lines("modules",
                      {{"purge", ScriptValue::block(purge)},
                       {"modules", ScriptValue::checked(loaded)},
                       {"message", ScriptValue::quoted("a module could not be loaded, of " + loaded)}});
}

Lines python_lines(const JobSpec& job) {
  Lines lines;
  if (!job.conda.empty()) {
    const std::string message = "the conda environment " + job.conda + " could not be activated";
    append(lines,
           script_lines("conda", {{"environment", ScriptValue::checked(option_safe_word(job.conda, "conda"))},
                                  {"message", ScriptValue::quoted(message)}}));
  }
  if (!job.venv.empty()) {
    const std::string message = "the virtual environment " + job.venv + " could not be activated";
    append(lines, script_lines("venv", {{"activate", ScriptValue::checked(option_safe_word(
                                                         job.venv + "/bin/activate", "venv"))},
                                        {"message", ScriptValue::quoted(message)},
                                        {"directory", ScriptValue::quoted(job.venv)}}));
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
    const auto names_it = [&name = name](const std::string& entry) {
      return entry.substr(0, entry.find('=')) == name;
    };
    const auto means_it = [&name = name](const std::string& entry) {
      return is_wildcard(entry) && name.starts_with(std::string_view(entry).substr(0, entry.size() - 1));
    };
    const bool meant = std::any_of(entries.begin(), entries.end(), means_it) &&
                       std::none_of(entries.begin(), entries.end(), names_it);
    if (meant && !is_secret_name(name) && is_name(NameKind::variable, name)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> inherited_variables(const JobSpec& job) {
  std::vector<std::string> names;
  for (const std::string& entry : job.environment) {
    if (is_wildcard(entry)) continue;
    const std::string name = variable_name(entry);
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (entry.size() == name.size() && is_new) names.push_back(name);
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
  // Files of modules and conda read variables that are not set. A `set -e` of setup ends with setup: the
  // lines behind it read statuses.
  Lines lines = script_lines("setup_traps");
  append(lines, {"", "set +u"});
  append(lines, inner);
  append(lines, {"", "set +e -u"});
  return lines;
}

}  // namespace ddlrun::schedulers
