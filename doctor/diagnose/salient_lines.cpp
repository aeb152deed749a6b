// SPDX-License-Identifier: MIT
#include "doctor/diagnose/salient_lines.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/sanitize.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_kept = 48;
constexpr int boilerplate_score = 6;  // listed only where no better line exists

constexpr ErrorKeyword words[] = {
    {"rror: ", 80},
    {"ERROR ", 65},
    {"ERROR:", 75},
    {"ERROR]", 70},
    {" ERROR", 65},
    {" error ", 50},
    {"FATAL ", 85},
    {"FATAL:", 85},
    {"fatal: ", 85},
    {"fatal error", 85},
    {"Fatal error", 85},
    {"Fatal Python error", 90},
    {"Traceback (", 70},
    {"xception: ", 80},
    {"Segmentation fault", 88},
    {"segfault", 80},
    {"core dumped", 85},
    {"Aborted", 70},
    {"MPI_ABORT", 72},
    {"MPI_Abort", 72},
    {"Assertion", 80},
    {"assertion failed", 80},
    {" failed", 50},
    {" FAILED", 60},
    {"Failed to ", 55},
    {"failure", 50},
    {"Cannot ", 50},
    {"cannot ", 50},
    {"could not ", 50},
    {"Could not ", 50},
    {"unable to ", 50},
    {"Unable to ", 50},
    {"denied", 55},
    {"refused", 55},
    {"No such file", 65},
    {"not found", 55},
    {"timed out", 60},
    {"Timed out", 60},
    {"Killed", 72},
    {" killed", 60},
    {"out of memory", 80},
    {"Out of memory", 80},
    {"terminate called", 88},
    {"panic: ", 80},
    {"Bus error", 88},
    {"Illegal instruction", 88},
    {"Floating point exception", 88},
    {"No space left", 80},
    {"Input/output error", 80},
    {"Disk quota exceeded", 80},
    {"Read-only file system", 80},
    {"Stale file handle", 80},
    {"Connection reset", 55},
    {"Broken pipe", 40},
    {"exited with", 55},
    {"exit code ", 50},
    {"non-zero exit code", 55},
    {"exit status ", 50},
    {"invalid ", 40},
    {"unrecognized ", 50},
    {"what():  ", 90},
    {"Too many open files", 80},
    {"ImportError", 80},
    {"Unhandled ", 60},
    {"double free", 88},
    {"stack smashing", 88},
    {"syntax error", 75},
    {"command not found", 75},
    {"Operation not permitted", 65},
    {"Unrecoverable", 75},
    {"critical", 45},
    {"CRITICAL", 75},
};

// A class name before the colon: "RuntimeError: ...", "torch.cuda.OutOfMemoryError: ...".
bool begins_with_exception(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon > 80) return false;
  const std::string_view name = text.substr(0, colon);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) { return is_name_byte(c); });
  return is_name && (name.ends_with("Error") || name.ends_with("Exception"));
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> some) {
  return std::any_of(some.begin(), some.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// "error: 0.31" and "errors=0" are figures, not failures.
bool is_figure(std::string_view text) {
  for (std::size_t at = text.find("rror"); at != std::string_view::npos; at = text.find("rror", at + 4)) {
    std::size_t next = at + 4;
    while (next < text.size() && std::string_view("s :=").find(text[next]) != std::string_view::npos) ++next;
    const bool digit = next < text.size() && text[next] >= '0' && text[next] <= '9';
    if (!digit || next == at + 4) return false;
  }
  return has_any(text, {"rror"});
}

std::string shape_of(std::string_view text) {
  std::string shape;
  for (const char c : text.substr(0, 200)) {
    if (c < '0' || c > '9') shape += c;
  }
  return shape;
}

bool weaker(const SalientLine& a, const SalientLine& b) {
  return a.score != b.score ? a.score < b.score : a.moment.sequence > b.moment.sequence;
}

}  // namespace

std::span<const ErrorKeyword> error_keywords() { return words; }

bool is_boilerplate(std::string_view text) {
  return has_any(text,
                 {"detected that one or more processes", "exited with non-zero status", "usually indicates",
                  "*usually*", "Per user-direction", "NOTE: ", "This usually is caused by",
                  "may result in corruption", "processes in this communicator will now abort"});
}

int line_salience(std::string_view text, int word_score) {
  if (is_boilerplate(text)) return boilerplate_score;
  int score = word_score;
  if (begins_with_exception(text)) score = 95;
  if (is_figure(text)) return 5;
  if (has_any(text, {"arning", "WARN", " INFO", "INFO ", "DEBUG"})) score -= 35;
  if (has_any(text, {"o errors", "o error ", "0 failed", "without error", "ignored", "ignoring"}))
    score -= 60;
  if (has_any(text, {"Signal: ", "*** Process received signal"})) score += 5;
  return std::max(score, 0);
}

void SalientLines::take(const ReadLine& line, int word_score) {
  const int score = line_salience(line.prefix.text, word_score);
  if (score <= 5) return;
  highest_ = std::max(highest_, score);
  const bool sure = line.prefix.rank && score >= min_failure_score;
  const bool first_rank =
      sure && (!first_of_a_rank_ || is_earlier({line.prefix.stamp, line.sequence}, first_of_a_rank_->moment));
  const bool full = kept_.size() >= max_kept;
  const auto weakest = std::min_element(kept_.begin(), kept_.end(), weaker);
  if (full && score <= weakest->score && !first_rank) return;

  SalientLine found{{"", line.line, sanitize(trim(line.prefix.text))},
                    line.source,
                    Moment{line.prefix.stamp, line.sequence},
                    {line.prefix.rank, line.prefix.host},
                    score,
                    shape_of(line.prefix.text)};
  if (first_rank) first_of_a_rank_ = found;
  const auto same =
      std::find_if(kept_.begin(), kept_.end(), [&](const SalientLine& t) { return t.shape == found.shape; });
  if (same != kept_.end()) return;
  if (full && score <= weakest->score) return;
  if (full) kept_.erase(weakest);
  kept_.push_back(std::move(found));
}

std::vector<SalientLine> SalientLines::best(std::size_t limit) const {
  std::vector<SalientLine> best = kept_;
  if (highest_ > boilerplate_score)
    std::erase_if(best, [](const SalientLine& line) { return line.score <= boilerplate_score; });
  std::sort(best.begin(), best.end(),
            [](const SalientLine& a, const SalientLine& b) { return weaker(b, a); });
  if (best.size() > limit) best.resize(limit);
  std::sort(best.begin(), best.end(),
            [](const SalientLine& a, const SalientLine& b) { return a.moment.sequence < b.moment.sequence; });
  return best;
}

}  // namespace ddlrun::diagnose
