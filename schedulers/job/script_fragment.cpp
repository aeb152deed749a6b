// SPDX-License-Identifier: MIT
#include "schedulers/job/script_fragment.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "templates/script_files.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

[[noreturn]] void throw_bad_fragment(std::string_view name, const std::string& what) {
  throw Error(ErrorKind::internal,
              {what, fmt::format("templates/script/{}.sh", name), "report this with the job's ddlrun.yaml"});
}

// The part of the file that goes into the script.
std::string_view fragment_body(std::string_view name) {
  constexpr std::string_view marker = "# ----- the lines below go into the script -----\n";
  for (const auto& [file, text] : templates::builtin_scripts()) {
    if (file != name) continue;
    const std::size_t at = text.find(marker);
    if (at == std::string_view::npos) throw_bad_fragment(name, "the line that ends the header is missing");
    return text.substr(at + marker.size());
  }
  throw_bad_fragment(name, "unknown script fragment");
}

struct Placeholder {
  std::size_t begin, size;
  std::string_view name;
};

// The first @name@ at or after `from`; npos as `begin` if there is none. "${words[@]}" is not one.
Placeholder find_placeholder(std::string_view line, std::size_t from) {
  const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  for (std::size_t at = line.find('@', from); at != std::string_view::npos; at = line.find('@', at + 1)) {
    std::size_t end = at + 1;
    while (end < line.size() && in_name(line[end])) ++end;
    if (end > at + 1 && end < line.size() && line[end] == '@')
      return {at, end + 1 - at, line.substr(at + 1, end - at - 1)};
  }
  return {std::string_view::npos, 0, {}};
}

}  // namespace

ScriptValue ScriptValue::quoted(std::string_view word) { return ScriptValue(shell_word(word)); }
ScriptValue ScriptValue::quoted(const std::vector<std::string>& words) {
  return ScriptValue(shell_words(words));
}
ScriptValue ScriptValue::number(std::uint64_t number) { return ScriptValue(std::to_string(number)); }
ScriptValue ScriptValue::checked(std::string text) { return ScriptValue(std::move(text)); }
ScriptValue ScriptValue::block(const Lines& lines) { return ScriptValue(join(lines, "\n")); }

Lines script_lines(std::string_view name, const ScriptValues& values) {
  Lines lines;
  std::string_view body = fragment_body(name);
  if (body.ends_with('\n')) body.remove_suffix(1);
  for (const std::string_view line : split(body, '\n')) {
    std::string filled;
    std::size_t at = 0;
    Placeholder next = find_placeholder(line, 0);
    const bool alone = next.size > 0 && next.size == line.size();
    for (; next.size > 0; next = find_placeholder(line, at)) {
      const auto value = values.find(next.name);
      if (value == values.end())
        throw_bad_fragment(name, fmt::format("the placeholder @{}@ has no value", next.name));
      filled += line.substr(at, next.begin - at);
      filled += value->second.text();
      at = next.begin + next.size;
    }
    filled += line.substr(at);
    if (!alone)
      lines.push_back(filled);
    else if (!filled.empty())
      for (const std::string_view part : split(filled, '\n')) lines.emplace_back(part);
  }
  return lines;
}

std::string script_text(std::string_view name, const ScriptValues& values) {
  std::string text;
  for (const std::string& line : script_lines(name, values)) text += line + "\n";
  return text;
}

}  // namespace ddlrun::schedulers
