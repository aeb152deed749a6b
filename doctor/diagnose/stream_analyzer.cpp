// SPDX-License-Identifier: MIT
#include "doctor/diagnose/stream_analyzer.hpp"

#include "doctor/diagnose/log_analysis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"

#include <utility>

namespace ddlrun::diagnose {

namespace {
constexpr std::size_t max_pending = 256 << 10;
}

StreamAnalyzer::StreamAnalyzer(std::string source, SignatureSource signatures)
    : source_(std::move(source)), signatures_(std::move(signatures)) {}
StreamAnalyzer::~StreamAnalyzer() = default;

void StreamAnalyzer::take(std::string_view bytes) {
  pending_ += bytes;
  if (pending_.size() >= max_pending) flush();
}

void StreamAnalyzer::flush() {
  if (!analysis_) {
    analysis_ = std::make_unique<LogAnalysis>(signatures_ ? signatures_() : builtin_signatures());
    analysis_->set_rank_count(ranks_);
    analysis_->begin_source(source_);
  }
  analysis_->take(pending_);
  pending_.clear();
}

void StreamAnalyzer::set_host(std::uint32_t rank, const std::string& host) {
  flush();
  analysis_->set_host(rank, host);
}

Diagnosis StreamAnalyzer::diagnosis(const RunStatus& end) {
  flush();
  analysis_->end_source();
  return analysis_->diagnosis(end);
}

}  // namespace ddlrun::diagnose
