// SPDX-License-Identifier: MIT
#include "diagnose/line_watch.hpp"

#include "diagnose/log_analysis.hpp"
#include "diagnose/signatures_yaml.hpp"

#include <utility>

namespace ddlrun::diagnose {

namespace {
constexpr std::size_t waits_at_most = 256 << 10;
}

LineWatch::LineWatch(std::string source) : source_(std::move(source)) {}
LineWatch::~LineWatch() = default;

void LineWatch::take(std::string_view bytes) {
  waiting_ += bytes;
  if (waiting_.size() >= waits_at_most) flush();
}

void LineWatch::flush() {
  if (!analysis_) {
    analysis_ = std::make_unique<LogAnalysis>(builtin_signatures());
    analysis_->begin_source(source_);
  }
  analysis_->take(waiting_);
  waiting_.clear();
}

Diagnosis LineWatch::diagnosis(const RunStatus& end) {
  flush();
  analysis_->end_source();
  return analysis_->diagnosis(end);
}

}  // namespace ddlrun::diagnose
