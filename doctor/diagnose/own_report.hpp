// SPDX-License-Identifier: MIT
// A diagnosis that ddlrun itself wrote into the log quotes the log, and a report of doctor describes the
// host: their lines are no evidence.
#pragma once

#include <string_view>

namespace ddlrun::diagnose {

// How ddlrun's lines begin before what it quotes.
constexpr std::string_view report_heads[] = {
    "ddlrun: what the output says:", "ddlrun: cause in the job's log:", "ddlrun: no known failure matches:"};

// A head, a quoted line below it, or what doctor reports of a check.
bool is_of_report(std::string_view line);

class OwnReport {
 public:
  // Every line while is_open(), and each that may begin a report. True where the line belongs to one.
  bool take(std::string_view line);
  bool is_open() const { return lines_left_ > 0; }
  void end_source() { lines_left_ = 0; }

 private:
  int lines_left_ = 0;
};

}  // namespace ddlrun::diagnose
