// SPDX-License-Identifier: MIT
// The diagnosis of a program while it runs: fed with what it says, asked when it has ended. Holds a few MiB
// at most however long the program talks, and costs next to nothing until 256 KiB have been said or a
// diagnosis is asked for: only then are the signatures read.
//
//   diagnose::LineWatch watch;
//   sink = [&](std::string_view line) { watch.take(line); ... };
//   if (status != 0) system.err(render_diagnosis(watch.diagnosis({status, Starter::mpirun})));
#pragma once

#include "diagnose/diagnosis.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

class LogAnalysis;

class LineWatch {
 public:
  // `source` names the stream in the evidence.
  explicit LineWatch(std::string source = "output");
  ~LineWatch();
  LineWatch(const LineWatch&) = delete;
  LineWatch& operator=(const LineWatch&) = delete;

  // The next bytes, in any portions: whole lines or parts of them.
  void take(std::string_view bytes);

  // What is known now; asked once, when the program has ended.
  Diagnosis diagnosis(const RunStatus& end);

 private:
  void flush();

  std::string source_;
  std::string waiting_;  // not yet analysed
  std::unique_ptr<LogAnalysis> analysis_;
};

}  // namespace ddlrun::diagnose
