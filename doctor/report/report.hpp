// SPDX-License-Identifier: MIT
// Findings as people, programs and shells read them.
#pragma once

#include "doctor/checks/examination.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

// A path of --via behind the first one, and the hosts that it did not reach.
struct LostPath {
  Via via = Via::ssh;
  std::vector<std::string> hosts;
};

// Everything that is reported about one run.
struct Examination {
  Level level = Level::quick;
  std::vector<Via> paths{Via::ssh};  // as requested; findings are of the first
  std::vector<std::string> hosts;
  std::vector<std::string> unreached;  // of them, by the first path
  std::vector<LostPath> lost;          // other paths that did not reach all hosts
  std::size_t relayed = 0;             // of them, by the word of a relay alone
  std::size_t local = 0;               // of them, this host: no connection
  std::vector<Finding> findings;
  double seconds = 0;
};

// Commands are shown whole or not at all: what was cut is another command.
constexpr std::size_t longest_command = 4000;

struct ReportStyle {
  bool colour = false;
  bool all = false;  // passes and skips one by one
};

// Fail, error and warn one by one, worst first; passes counted; skips folded by reason. Text from hosts is
// made safe to print.
std::string render_report(const Examination& examination, std::span<const Check> checks,
                          const ReportStyle& style);

// One document, "ddlrun.doctor/1".
std::string render_report_json(const Examination& examination, std::span<const Check> checks);

// A bash script with the remedies of all warn and fail findings, for a person to read before it is run: every
// step prints why and for which hosts, and asks first.
std::string render_fix_script(const Examination& examination, std::span<const Check> checks);
// There are such findings.
bool has_remedies(const Examination& examination);

std::string render_check_list(std::span<const Check> checks);
std::string render_explanation(const Check& check);

}  // namespace ddlrun::doctor
