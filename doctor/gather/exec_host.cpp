// SPDX-License-Identifier: MIT
#include "doctor/gather/exec_host.hpp"

#include "base/text/text.hpp"

#include <optional>

namespace ddlrun::doctor {

namespace {

constexpr int most_slots = 1 << 20;

// The value of the first exec_host; qstat folds long values at a newline and a tab (OpenPBS 23.06).
std::string find_exec_host(std::string_view qstat) {
  constexpr std::string_view begin = "    exec_host = ";
  std::string value;
  bool found = false;
  for (const std::string_view line : split(qstat, '\n')) {
    if (found && !line.starts_with('\t')) break;
    if (found) value += trim(line);
    if (!found && line.starts_with(begin)) {
      found = true;
      value = trim(line.substr(begin.size()));
    }
  }
  return value;
}

// What follows "HOST/": "0*68" is 68 processors from slot 0 on and "0" is one (OpenPBS 23.06), "0-67" is 68
// slots of one processor (Torque 6).
std::optional<std::uint64_t> count_processors(std::string_view slots) {
  const auto star = slots.find('*');
  const auto list = parse_ranges(slots.substr(0, star), most_slots);
  if (!list || list->empty()) return std::nullopt;
  if (star == std::string_view::npos) return list->size();
  return parse_unsigned(slots.substr(star + 1), most_slots);
}

}  // namespace

std::map<std::string, std::uint64_t> parse_exec_host(std::string_view qstat) {
  std::map<std::string, std::uint64_t> processors;
  const std::string value = find_exec_host(qstat);
  for (const std::string_view chunk : split(value, '+')) {
    const auto slash = chunk.find('/');
    if (slash == 0 || slash == std::string_view::npos) return {};
    const auto count = count_processors(chunk.substr(slash + 1));
    if (!count) return {};
    const std::string_view host = chunk.substr(0, slash);
    processors[std::string(host.substr(0, host.find('.')))] += *count;
  }
  return processors;
}

}  // namespace ddlrun::doctor
