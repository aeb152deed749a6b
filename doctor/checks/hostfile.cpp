// SPDX-License-Identifier: MIT
// The numbers in the hostfile, as Open MPI 4.1 takes or refuses them.
#include "base/text/text.hpp"
#include "doctor/checks/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace ddlrun::doctor {

namespace {

struct Attribute {
  std::string name, value;
};

// "slots=4 max_slots = 8" behind the name of a line.
std::vector<Attribute> read_attributes(std::string_view line) {
  std::vector<Attribute> attributes;
  line = trim(line.substr(0, line.find('#')));
  line = line.substr(std::min(line.find_first_of(" \t"), line.size()));
  while (true) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return attributes;
    const std::string_view before = trim(line.substr(0, equals));
    line = line.substr(equals + 1);
    line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    const auto blank = before.find_last_of(" \t");
    attributes.push_back({std::string(blank == std::string_view::npos ? before : before.substr(blank + 1)),
                          std::string(line.substr(0, end))});
    line = line.substr(end);
  }
}

bool is_number_of_slots(const std::string& name) {
  constexpr std::array<std::string_view, 5> names{"slots", "max_slots", "max-slots", "cpu", "count"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

struct BadLine {
  std::string observed, script;  // the script: sed's, that mends it; "" if the user must choose the number
};

std::optional<BadLine> evaluate_hostfile_line(const Job& job, std::string_view line, std::size_t number) {
  const std::string host(line.substr(0, line.find_first_of(" \t:")));
  std::optional<std::uint64_t> slots, most;
  for (const Attribute& attribute : read_attributes(line)) {
    if (!is_number_of_slots(attribute.name)) continue;
    if (!is_digits(attribute.value)) {
      const auto ranks = job.ranks_of_host.find(host);
      const std::string mend = ranks == job.ranks_of_host.end()
                                   ? ""
                                   : fmt::format("{}s/{}[[:blank:]]*=[[:blank:]]*[^[:blank:]]*/{}={}/",
                                                 number, attribute.name, attribute.name, ranks->second);
      return BadLine{fmt::format("line {}: {}={}", number, attribute.name, printable(attribute.value, 40)),
                     mend};
    }
    (attribute.name.starts_with("max") ? most : slots) = parse_unsigned(attribute.value);
  }
  if (!slots || !most || *slots <= *most) return std::nullopt;
  return BadLine{fmt::format("line {}: slots={}, but max_slots={}", number, *slots, *most),
                 fmt::format("{}s/[[:blank:]]max[-_]slots[[:blank:]]*=[[:blank:]]*[0-9]+//", number)};
}

}  // namespace

std::vector<Finding> check_hostfile(const CheckInput& input) {
  const Job& job = input.job;
  if (job.hostfile_text.empty())
    return single_finding("NAME-09", skip("no hostfile given (--hostfile FILE)"));
  std::vector<std::string> observed, scripts;
  std::size_t number = 0;
  for (const std::string_view line : split(job.hostfile_text, '\n')) {
    ++number;
    const auto bad =
        trim(line).starts_with('#') ? std::nullopt : evaluate_hostfile_line(job, trim(line), number);
    if (!bad) continue;
    observed.push_back(bad->observed);
    if (!bad->script.empty()) scripts.push_back(bad->script);
  }
  if (observed.empty()) return single_finding("NAME-09", pass("every number of slots is one"));
  const std::string path = quote_shell(job.hostfile_path);
  Remedy remedy{{}, false, true, fmt::format("write how many ranks each host takes: slots=4, in {}", path)};
  if (!scripts.empty())
    remedy.commands = {fmt::format("sed -i.before -E {} {}", quote_shell(join(scripts, ";")), path)};
  return single_finding(
      "NAME-09",
      {Verdict::fail, some_of(observed), "slots=NUMBER, at most max_slots",
       "mpirun refuses the file: \"Open RTE detected a bad parameter in the hostfile\"", std::move(remedy)});
}

}  // namespace ddlrun::doctor
