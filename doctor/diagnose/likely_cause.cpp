// SPDX-License-Identifier: MIT
#include "doctor/diagnose/likely_cause.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/gpu_error_code.hpp"
#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/line_prefix.hpp"
#include "doctor/diagnose/log_end.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

// Lines of one weight are compared by time: 95 an exception, 85 a failed check or a fatal error, 70 an error,
// 50 a hint.
int weight_of(const SalientLine& line) {
  if (is_of_setup(line.line.text)) return 0;
  if (is_consequence(line.line.text)) return 1;
  const int score = line.score;
  for (const int least : {88, 80, 75, 70, 60}) {
    if (score >= least) return least;
  }
  return 0;
}

// "MPIDI_OFI_mpi_init_hook(1653): text" -> "text"; nothing for another line.
std::optional<std::string_view> mpich_frame(std::string_view line) {
  if (line.starts_with('[')) line = trim(line.substr(std::min(line.find(']'), line.size() - 1) + 1));
  const std::size_t open = line.find('(');
  if (open == std::string_view::npos || open == 0 || open > 60) return std::nullopt;
  if (!std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(open), is_name_byte))
    return std::nullopt;
  const std::size_t close = line.find_first_not_of("0123456789", open + 1);
  if (close == std::string_view::npos || close == open + 1 || line[close] != ')') return std::nullopt;
  const std::size_t text = line.find_first_not_of(". ", close + 1);
  if (text == std::string_view::npos) return std::string_view();
  if (line[text] != ':') return std::nullopt;
  return trim(line.substr(text + 1));
}

// The innermost frame that says more than "fail failed".
std::string innermost_frame(const SalientLine& line) {
  std::string innermost;
  for (const EvidenceLine& next : line.following) {
    const auto frame = mpich_frame(next.text);
    if (!frame && innermost.empty()) continue;
    if (!frame) break;
    if (frame->size() > 6 && *frame != "fail failed") innermost = std::string(*frame);
  }
  // MPICH's ch3:sock has no numbers behind the names: the last line has the reason.
  const bool no_frame = innermost.empty() && line.following.size() > 1;
  if (no_frame && !mpich_frame(line.following.back().text)) innermost = line.following.back().text;
  return innermost;
}

// "\"text\"" -> "text": R's logs quote their lines.
std::string_view without_quotes(std::string_view text) {
  text = trim(text);
  if (const std::size_t end = text.find("] \""); text.starts_with('[') && end < 8)
    text = trim(text.substr(end + 1));
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return trim(text.substr(1, text.size() - 2));
}

// A stack, or the end of a process, below an error.
bool begins_other_message(std::string_view text) {
  return starts_with_any(text, {"Backtrace:", "Stacktrace:", "Calls: ", "forrtl: ", "Image  ", "#0 ",
                                "Abort(", "application called MPI_Abort", "MPI_ABORT", "srun: "});
}

std::string joined(std::string_view first, const std::vector<EvidenceLine>& following) {
  std::string text(first);
  std::string_view last = first;
  for (const EvidenceLine& next : following) {
    const std::string_view more = without_quotes(next.text);
    if (more == last) continue;
    if (begins_other_message(more)) break;
    // Behind a colon stands the reason, however long the headline is: clip() leaves out its middle.
    const bool is_reason = last.ends_with(':');
    if (!is_reason && text.size() > first.size() && text.size() + more.size() > max_headline) break;
    text += ' ' + std::string(more);
    last = more;
    if (!next.text.ends_with(':') && !next.text.ends_with(',') && text.size() > 120) break;
  }
  return text;
}

// The first line after an empty "what():" that is a sentence.
std::string said_below(const SalientLine& line) {
  bool is_below = false;
  for (const EvidenceLine& next : line.following) {
    const bool is_sentence = std::count(next.text.begin(), next.text.end(), ' ') >= 2;
    if (is_below && is_sentence && !next.text.starts_with('+') && !next.text.starts_with('['))
      return next.text;
    is_below = is_below || has(next.text, "what():");
  }
  return "";
}

// "no space left" fits "No space left": both in upper case.
bool fits_upper(LinePattern pattern, std::string_view upper) {
  for (std::string& piece : pattern.pieces) piece = to_upper(piece);
  return match_line(pattern, upper).has_value();
}

// A launcher reports that something failed, and not why.
bool is_bare_report(std::string_view text) {
  constexpr std::string_view launchers[] = {
      "srun: ",    "slurmstepd: ", "mpirun: ", "mpiexec: ",  "prterun: ",   "prun: ",
      "orterun: ", "aprun: ",      "jsrun: ",  "torchrun: ", "horovodrun: "};
  return starts_with_any(text, launchers) && has_any(text, {" failed", " Failed"}) &&
         !ends_with_errno_text(text);
}

}  // namespace

const SalientLine* most_telling(const std::vector<SalientLine>& lines, int min_score) {
  const SalientLine* best = nullptr;
  for (const SalientLine& line : lines) {
    if (line.score < min_score) continue;
    const int weight = weight_of(line), best_weight = best == nullptr ? -1 : weight_of(*best);
    if (weight > best_weight || (weight == best_weight && is_earlier(line.moment, best->moment)))
      best = &line;
  }
  return best;
}

const SalientLine* with_reason(const SalientLine& line, const std::vector<SalientLine>& lines) {
  constexpr std::uint64_t near = 6;  // lines
  if (!is_bare_report(line.line.text)) return &line;
  const auto distance = [&line](const SalientLine& other) {
    const std::uint64_t at = line.line.line, its = other.line.line;
    return at > its ? at - its : its - at;
  };
  const SalientLine* best = &line;
  for (const SalientLine& other : lines) {
    const bool has_reason = other.source == line.source && distance(other) <= near &&
                            other.score >= min_doubtful_score && ends_with_errno_text(other.line.text) &&
                            !is_of_setup(other.line.text);
    if (has_reason && (best == &line || distance(other) < distance(*best))) best = &other;
  }
  return best;
}

std::string error_headline(const SalientLine& line, std::size_t limit) {
  const auto clip = [limit](std::string text) { return shorten(std::move(text), limit); };
  const std::string text(without_quotes(line.line.text));
  const auto ends_as_head = [](const std::string& one) { return one.ends_with("error stack:"); };
  if (ends_as_head(text) || (!line.following.empty() && ends_as_head(line.following.front().text))) {
    const std::string frame = innermost_frame(line);
    const std::size_t begin = text.find("rror in ");
    const std::string_view call =
        begin == std::string_view::npos
            ? std::string_view()
            : std::string_view(text).substr(begin + 8, text.find(':', begin) - begin - 8);
    if (!frame.empty()) return clip(std::string(call) + (call.empty() ? "" : ": ") + frame);
  }
  // The whole stack on one line: the last frame has the reason.
  if (const std::size_t stack = text.find("error stack: "); stack != std::string::npos) {
    const std::size_t last = text.rfind("): ");
    if (last != std::string::npos && last > stack && last + 3 < text.size())
      return clip(text.substr(last + 3));
  }
  constexpr std::string_view thrown = "terminate called after throwing an instance of ";
  if (const std::size_t at = text.find(thrown); at != std::string_view::npos) {
    std::string what = "C++ exception " + text.substr(at + thrown.size());
    for (const EvidenceLine& next : line.following) {
      const std::size_t said = next.text.find("what():");
      if (said == std::string_view::npos) continue;
      const std::string why(trim(std::string_view(next.text).substr(said + 7)));
      return clip(what + ": " + (why.empty() ? said_below(line) : why));
    }
    return clip(what);
  }
  // A long function name before it hides what was asserted.
  if (const std::size_t at = text.find("Assertion `"); at != std::string::npos && text.size() > max_headline)
    return clip(text.substr(at));
  const bool goes_on =
      text.ends_with(':') || text.ends_with(',') || is_bare_head(text) || ends_within_sentence(text);
  const std::string words = gpu_error_words(text);
  if (!words.empty()) return clip(text + " (" + words + ')');
  return clip(goes_on ? joined(text, line.following) : text);
}

std::string value_in(const Signature& signature, std::string_view text) {
  for (const MessagePattern& pattern : signature.patterns) {
    const auto captures = match_line(pattern.front(), text);
    if (captures && !captures->value.empty()) return sanitize(captures->value, 300);
  }
  return "";
}

const Signature* error_class(const SignatureSet& set, std::string_view text) {
  const Signature *last = nullptr, *other_letters = nullptr;
  const std::string upper = to_upper(text);
  for (const Signature& signature : set.signatures) {
    if (signature.kind != SignatureClass::likely || signature.id == wait_id) continue;
    last = &signature;
    const bool fits =
        std::any_of(signature.patterns.begin(), signature.patterns.end(),
                    [text](const MessagePattern& p) { return match_line(p.front(), text).has_value(); });
    if (fits) return &signature;
    const bool nearly =
        other_letters == nullptr &&
        std::any_of(signature.patterns.begin(), signature.patterns.end(),
                    [&upper](const MessagePattern& p) { return fits_upper(p.front(), upper); });
    if (nearly) other_letters = &signature;
  }
  return other_letters != nullptr ? other_letters : last;
}

bool is_of_class(std::string_view text, std::string_view id, const SignatureSet& set) {
  const Signature* error = error_class(set, text);
  return error != nullptr && error->id == id;
}

}  // namespace ddlrun::diagnose
