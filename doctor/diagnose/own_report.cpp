// SPDX-License-Identifier: MIT
#include "doctor/diagnose/own_report.hpp"

#include "base/text/text.hpp"

namespace ddlrun::diagnose {

namespace {

constexpr int longest_report = 120;  // lines

bool is_head(std::string_view line) { return starts_with_any(line, report_heads); }

// "  is    fatal: Could not ...": render_finding() of doctor/report/report.cpp writes such lines.
bool is_of_doctor(std::string_view line) {
  constexpr std::string_view keys[] = {"  at    ", "  is    ", "  want  ",
                                       "  why   ", "  try   ", "  note  "};
  return starts_with_any(line, keys);
}

}  // namespace

bool is_of_report(std::string_view line) {
  return is_head(line) || line.starts_with("  | ") || is_of_doctor(line);
}

bool OwnReport::take(std::string_view line) {
  if (is_head(line)) {
    lines_left_ = longest_report;
    return true;
  }
  if (is_of_doctor(line)) return true;
  if (!is_open()) return false;
  // ddlrun's next line of its own, or the script's, follows each report.
  if (line.starts_with("ddlrun")) {
    lines_left_ = 0;
    return false;
  }
  --lines_left_;
  return true;
}

}  // namespace ddlrun::diagnose
