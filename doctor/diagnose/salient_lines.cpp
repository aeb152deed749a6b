// SPDX-License-Identifier: MIT
#include "doctor/diagnose/salient_lines.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/python_traceback.hpp"
#include "doctor/diagnose/sanitize.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_kept = 48;
constexpr int min_followed_score = 70;
constexpr int max_following = 8;
constexpr int last_errno = 134;       // of Linux
constexpr int boilerplate_score = 6;  // listed only where no better line exists

// Crashes and kills score less than errors in words: those explain more.
constexpr ErrorKeyword words[] = {
    {"rror: ", 80},
    {"ERROR ", 65},
    {"ERROR:", 80},
    {"ERROR]", 75},
    {" ERROR", 65},
    {" Error ", 60},
    {" error ", 55},
    {"Error at ", 70},
    {"Error returned", 75},
    {"ERROR on proc", 90},
    {"Error in ", 70},
    {"error in ", 55},
    {"ERROR_LOG", 75},
    {"FATAL ", 85},
    {"FATAL:", 85},
    {"] FATAL", 85},
    {"fatal: ", 85},
    {"fatal error", 85},
    {"Fatal error", 85},
    {"FATAL ERROR", 85},
    {"FATAL FROM", 85},
    {"Fatal Python error", 85},
    {"Check failed: ", 90},
    {"NCCL WARN ", 75},
    {"NCCL error", 85},
    {"NCCL failure", 85},
    {"WARN Socket ", 75},
    {"UCX  ERROR", 88},
    {"UCX  FATAL", 90},
    {"Memory access fault by GPU", 90},
    {"_STATUS_ERROR", 85},
    {"DEADLINE_EXCEEDED", 90},
    {"aborting with error", 85},
    {"operation error on ", 85},
    {"suspects a hang", 85},
    {"_init failed", 82},
    {"CUDA error", 88},
    {"CUDA Error", 88},
    {"CUDA_ERROR_", 85},
    {"CUDA failure", 88},
    {"GPUassert", 88},
    {"hipError", 85},
    {"cudaError", 85},
    {"HIP error", 88},
    {"NVRM: Xid", 80},
    {"fallen off the bus", 90},
    {"E tensorflow/", 80},
    {"F tensorflow/", 90},
    {"Traceback (", 70},
    {"xception: ", 80},
    {"xception in ", 75},
    {"Segmentation fault", 72},
    {"segmentation fault", 72},
    {"SIGSEGV", 72},
    {"SIGABRT", 70},
    {"SIGKILL", 72},
    {"SIGBUS", 72},
    {"segfault", 72},
    {"core dumped", 72},
    {"Aborted", 70},
    {"Abort(", 72},
    {"MPI_ABORT", 70},
    {"MPI_Abort", 70},
    {"Assertion", 85},
    {"assertion failed", 85},
    {"Assertion failed", 85},
    {" failed", 55},
    {" failed:", 70},
    {"failed to ", 65},
    {" FAILED", 65},
    {"Failed to ", 65},
    {"failure", 50},
    {"Failure", 55},
    {"Cannot ", 60},
    {"cannot ", 55},
    {"CANNOT ", 70},
    {"can't ", 50},
    {"could not ", 60},
    {"Could not ", 65},
    {"unable to ", 60},
    {"Unable to ", 65},
    {"unable to connect", 75},
    {"denied", 60},
    {"Permission denied", 80},
    {"refused", 60},
    {"Connection refused", 75},
    {"No such file", 75},
    {"does not exist", 70},
    {"not found", 60},
    {"version `GLIBC", 85},
    {"version GLIBC", 85},
    {"not found (required by", 88},
    {"cannot open shared object", 88},
    {"symbol lookup error", 88},
    {"undefined symbol", 85},
    {"timed out", 65},
    {"Timed out", 65},
    {"timeout", 45},
    {"Killed", 72},
    {" killed", 60},
    {"Terminated", 70},
    {"out of memory", 82},
    {"Out of memory", 82},
    {"OUT OF MEMORY", 82},
    {"Cannot allocate memory", 82},
    {"cannot allocate", 75},
    {"oom-kill", 82},
    {"oom_kill", 82},
    {"insufficient memory", 80},
    {"bad_alloc", 88},
    {"terminate called", 85},
    {"panic: ", 80},
    {"Bus error", 74},
    {"Illegal instruction", 75},
    {"Floating point exception", 75},
    {"forrtl: ", 85},
    {"Fortran runtime error", 88},
    {"Program received signal", 72},
    {"ERROR STOP", 85},
    {"No space left", 85},
    {"Input/output error", 80},
    {"quota exceeded", 85},
    {"Disk quota", 85},
    {"Read-only file system", 85},
    {"Stale file handle", 85},
    {"Bad address", 80},
    {"Invalid argument", 60},
    {"Bad file descriptor", 60},
    {"temporarily unavailable", 60},
    {"resource busy", 60},
    {"Transport endpoint", 60},
    {"No such device", 60},
    {"Address already in use", 85},
    {"Name or service not known", 80},
    {"Temporary failure in name", 80},
    {"No route to host", 80},
    {"Network is unreachable", 80},
    {"Connection timed out", 75},
    {"Connection reset", 55},
    {"Broken pipe", 40},
    {"exited with", 55},
    {"exit code ", 50},
    {"non-zero exit code", 55},
    {"exit status ", 50},
    {"invalid ", 50},
    {"Invalid ", 60},
    {"unrecognized ", 75},
    {"Unrecognized ", 75},
    {"unknown option", 75},
    {"not supported", 55},
    {"mismatch", 55},
    {"what():  ", 86},
    {"Too many open files", 85},
    {"ImportError", 80},
    {"ModuleNotFoundError", 85},
    {"No module named", 85},
    {"Unhandled ", 70},
    {"double free", 88},
    {"free(): ", 85},
    {"malloc(): ", 85},
    {"corrupted ", 80},
    {"stack smashing", 88},
    {"stack overflow", 80},
    {"syntax error", 80},
    {"command not found", 80},
    {"Operation not permitted", 70},
    {"Unrecoverable", 75},
    {"uncorrectable", 75},
    {"Uncorrectable", 75},
    {"critical", 45},
    {"CRITICAL", 80},
    {"exceeded", 55},
    {"=>> PBS: ", 85},
    {"TERM_MEMLIMIT", 85},
    {"TERM_RUNLIMIT", 85},
    {"license", 45},
    {"Reason: ", 76},
    {"Called CmiAbort", 72},
};

bool has_any(std::string_view text, std::initializer_list<std::string_view> some) {
  return std::any_of(some.begin(), some.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// "open /dev/x: Invalid argument": a call of the system failed.
bool ends_with_errno_text(std::string_view text) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (int code = 1; code < last_errno; ++code) all.push_back(std::string(": ") + std::strerror(code));
    return all;
  }();
  if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  return std::any_of(texts.begin(), texts.end(),
                     [text](const std::string& end) { return text.ends_with(end); });
}

// "error: 0.31" and "errors=0" are figures, not failures.
bool is_figure(std::string_view text) {
  for (std::size_t at = text.find("rror"); at != std::string_view::npos; at = text.find("rror", at + 4)) {
    std::size_t next = at + 4;
    while (next < text.size() && std::string_view("s :=").find(text[next]) != std::string_view::npos) ++next;
    const bool digit = next < text.size() && text[next] >= '0' && text[next] <= '9';
    if (!digit || next == at + 4) return false;
    if (exception_text(text) && text.find('.', next) == std::string_view::npos) return false;  // KeyError: 17
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
  return has_any(text, {"detected that one or more processes",
                        "exited with non-zero status",
                        "usually indicates",
                        "*usually*",
                        "Per user-direction",
                        "NOTE: ",
                        "This usually is caused by",
                        "may result in corruption",
                        "processes in this communicator will now abort",
                        "noticed that process rank",
                        "srun: Force Terminated",
                        "srun: Terminating",
                        "_step_signal",
                        "srun: Job step aborted",
                        "CLEANING UP REMAINING",
                        "YOU CAN IGNORE THE BELOW",
                        "Primary job  terminated",
                        "Please see the FAQ page",
                        "This typically refers to a problem",
                        "killed by the cleanup",
                        "Clean shutdown is not currently implemented",
                        "assert (!closed) failed",
                        "demux engine error",
                        "callback returned error status",
                        "processes terminated badly",
                        "error waiting for completion",
                        "error waiting for event"});
}

bool is_decoration(std::string_view text) {
  std::size_t drawn = 0, words = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
    ++(plain ? words : drawn);
  }
  return words < 2 || (drawn >= 12 && drawn > 2 * words);
}

int line_salience(std::string_view text, int word_score) {
  if (is_boilerplate(text)) return boilerplate_score;
  int score = word_score;
  if (is_figure(text)) return 5;
  if (const auto exception = exception_text(text)) {
    const bool second = is_consequence_exception(exception->type, exception->message);
    const bool bare = exception->message.empty() && text.find(':') == std::string_view::npos;
    score = second ? 60 : bare ? std::max(score, 70) : 95;
  }
  if (score < min_failure_score && ends_with_errno_text(text)) score = min_failure_score + 1;
  const bool of_nccl = has_any(text, {"NCCL WARN", "WARN Socket"});
  if (!of_nccl && has_any(text, {"arning", "WARN", " INFO", "INFO ", "DEBUG"})) score -= 35;
  if (has_any(text, {"Connection reset", "connection closed", "Broken pipe", "aborting job", "Terminating "}))
    score -= 15;
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

  if (is_decoration(line.prefix.text)) return;
  SalientLine found{{"", line.line, sanitize(trim(line.prefix.text))},
                    line.source,
                    Moment{line.prefix.stamp, line.sequence},
                    {line.prefix.rank, line.prefix.host},
                    score,
                    shape_of(line.prefix.text),
                    {}};
  if (const auto own = rank_in_text(found.line.text)) found.place.rank = own;
  if (first_rank) first_of_a_rank_ = found;
  const auto same =
      std::find_if(kept_.begin(), kept_.end(), [&](const SalientLine& t) { return t.shape == found.shape; });
  if (same != kept_.end()) return;
  if (full && score <= weakest->score) return;
  if (full) kept_.erase(weakest);
  if (score >= min_followed_score && score > followed_score_) {
    followed_shape_ = found.shape;
    followed_score_ = score;
    followed_label_ = line.prefix.rank;
    lines_left_ = max_following;
  }
  kept_.push_back(std::move(found));
}

void SalientLines::follow(const ReadLine& line) {
  const auto followed = std::find_if(kept_.begin(), kept_.end(),
                                     [&](const SalientLine& t) { return t.shape == followed_shape_; });
  if (followed == kept_.end() || lines_left_-- <= 0) return end_source();
  if (followed_label_ != line.prefix.rank) return;
  const std::string_view text = trim(line.prefix.text);
  if (text.empty() || is_decoration(text) || is_boilerplate(text)) return end_source();
  followed->following.push_back({line.line, sanitize(text, 300)});
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
