// SPDX-License-Identifier: MIT
#include "doctor/diagnose/message_fields.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/line_prefix.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace ddlrun::diagnose {

namespace {

// In small letters.
constexpr std::array<std::pair<std::string_view, Capture>, 24> fields{{
    {"host", Capture::host},
    {"local host", Capture::host},
    {"node", Capture::host},
    {"hostname", Capture::host},
    {"target node", Capture::host},
    {"reported from nodename", Capture::host},
    {"rank", Capture::rank},
    {"executable", Capture::value},
    {"working directory", Capture::value},
    {"rank file", Capture::value},
    {"value", Capture::value},
    {"value given", Capture::value},
    {"system call", Capture::value},
    {"filename", Capture::value},
    {"plm_rsh_agent", Capture::value},
    {"plm_ssh_agent", Capture::value},
    {"peer open mpi version", Capture::value},
    {"hostfile entry", Capture::value},
    {"exit code", Capture::status},
    {"exitcode", Capture::status},
    {"try", Capture::any},
    {"error", Capture::end},  // evidence only
    {"message", Capture::end},
    {"btls attempted", Capture::end},
}};

std::string lower_text(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

// The first word, if it is made of the bytes of names.
std::string_view leading_name(std::string_view value) {
  std::size_t end = 0;
  while (end < value.size() && is_name_byte(value[end])) ++end;
  return value.substr(0, end);
}

}  // namespace

std::optional<FoundField> read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon > 40) return std::nullopt;
  const std::string_view key = trim(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (key.empty() || value.empty()) return std::nullopt;
  if (line.starts_with("error:"))
    return std::nullopt;  // a program's own message: Open MPI's fields are indented
  const std::string small = lower_text(key);
  const auto known =
      std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == small; });
  if (known == fields.end()) return std::nullopt;
  FoundField found{{}, key, value};
  if (known->second == Capture::host) {
    found.captures.host = host_in(leading_name(value));
    if (found.captures.host.empty()) return std::nullopt;
  } else if (known->second == Capture::end) {
    return found;
  } else if (known->second == Capture::any) {
    found.captures.advice = value.substr(0, 400);
  } else if (known->second == Capture::value) {
    found.captures.value = value.substr(0, 400);
  } else {
    const bool negative = value.starts_with('-');
    const auto number = parse_unsigned(leading_name(negative ? value.substr(1) : value), 1u << 24);
    if (!number) return std::nullopt;
    if (known->second == Capture::rank)
      found.captures.rank = static_cast<std::uint32_t>(*number);
    else
      found.captures.status = (negative ? -1 : 1) * static_cast<int>(*number);
  }
  return found;
}

bool is_box_edge(std::string_view line) {
  line = trim(line);
  return line.size() >= 60 && line.find_first_not_of('-') == std::string_view::npos;
}

}  // namespace ddlrun::diagnose
