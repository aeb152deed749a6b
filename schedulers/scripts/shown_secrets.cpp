// SPDX-License-Identifier: MIT
#include "schedulers/scripts/shown_secrets.hpp"

#include "base/text/secret_name.hpp"
#include "base/text/shell_lexer.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

std::optional<Message> find_shown_secrets(std::string_view script) {
  const JobScript parsed = parse_job_script(script, "");
  if (parsed.dialect != Dialect::pbs) return std::nullopt;
  std::vector<std::string> names;
  for (const Directive& directive : parsed.directives) {
    if (directive.option != "-v") continue;
    for (const std::string_view entry : split(directive.value, ',')) {
      const std::string name(trim(entry.substr(0, entry.find('='))));
      const bool is_new = std::ranges::find(names, name) == names.end();
      const bool is_variable = std::ranges::all_of(name, is_name);
      if (is_new && is_variable && is_secret_name(name)) names.push_back(name);
    }
  }
  if (names.empty()) return std::nullopt;
  return Message{
      fmt::format("qstat -f shows the value{} of {} to every user", names.size() == 1 ? "" : "s",
                  join(names, ", ")),
      "#PBS -v",
      fmt::format("umask 077; mkdir -p ~/.secrets; printf %s \"${0}\" > ~/.secrets/{0}   # then leave out "
                  "the variable and let the program read the file",
                  names.front())};
}

}  // namespace ddlrun::job_scripts
