// SPDX-License-Identifier: MIT
// Diagnoses a program from its output while it runs. Holds a few MiB at most, however long the output is.
// Loads the signatures only after 256 KiB of output or for diagnosis(); until then it only appends.
//
//   diagnose::StreamAnalyzer analyzer;
//   sink = [&](std::string_view line) { analyzer.take(line); ... };
//   if (status != 0) system.err(render_diagnosis(analyzer.diagnosis({status, LogSource::mpirun})));
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/signature.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

class LogAnalysis;

// Called once, when the signatures are needed.
using SignatureSource = std::function<std::shared_ptr<const SignatureSet>()>;

class StreamAnalyzer {
 public:
  // `source` names the stream in the evidence. Without `signatures`: the built-in ones.
  explicit StreamAnalyzer(std::string source = "output", SignatureSource signatures = {});
  ~StreamAnalyzer();
  StreamAnalyzer(const StreamAnalyzer&) = delete;
  StreamAnalyzer& operator=(const StreamAnalyzer&) = delete;

  // The next bytes, in any portions: whole lines or parts of them.
  void take(std::string_view bytes);

  // Of the job, before its first line: a higher number before a line, such as a process id, is no rank.
  void set_rank_count(std::uint32_t ranks) { ranks_ = ranks; }

  // The launcher knows it, and the output need not name it.
  void set_host(std::uint32_t rank, const std::string& host);

  // Call it once, after the program has ended.
  Diagnosis diagnosis(const RunStatus& end);

 private:
  void flush();

  std::string source_;
  SignatureSource signatures_;
  std::string pending_;  // not yet analysed
  std::uint32_t ranks_ = std::numeric_limits<std::uint32_t>::max();
  std::unique_ptr<LogAnalysis> analysis_;
};

}  // namespace ddlrun::diagnose
