// SPDX-License-Identifier: MIT
#include "doctor/diagnose/pattern_index.hpp"

#include "doctor/diagnose/error_keywords.hpp"
#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/own_report.hpp"
#include "doctor/diagnose/salient_lines.hpp"

#include <map>
#include <mutex>

namespace ddlrun::diagnose {

struct PatternIndex::Literals {
  std::vector<PatternRef> patterns;
  std::vector<std::string> texts;
  std::vector<LiteralUse> uses;
  std::map<std::string, std::uint32_t, std::less<>> numbers;

  LiteralUse& use(std::string_view text) {
    const auto found = numbers.find(text);
    if (found != numbers.end()) return uses[found->second];
    numbers.emplace(text, static_cast<std::uint32_t>(texts.size()));
    texts.emplace_back(text);
    return uses.emplace_back();
  }
  void add_patterns(const std::vector<MessagePattern>& all, std::size_t owner, bool is_ending) {
    for (const MessagePattern& lines : all) {
      std::size_t weight = 0;
      for (const LinePattern& line : lines) {
        for (const std::string& piece : line.pieces) weight += piece.size();
      }
      use(key_of(lines.front())).patterns.push_back(static_cast<std::uint32_t>(patterns.size()));
      patterns.push_back({static_cast<std::uint32_t>(owner), is_ending, &lines, weight});
    }
  }
};

PatternIndex::Literals PatternIndex::gather(const SignatureSet& set) {
  Literals literals;
  for (std::size_t i = 0; i < set.signatures.size(); ++i) {
    // Those of class L are held against one line only: see likely_cause.hpp.
    if (set.signatures[i].kind != SignatureClass::likely)
      literals.add_patterns(set.signatures[i].patterns, i, false);
  }
  for (std::size_t i = 0; i < set.endings.size(); ++i)
    literals.add_patterns(set.endings[i].patterns, i, true);
  literals.use("File \"").of_traceback = true;
  literals.use("Traceback (most recent call last)").of_traceback = true;
  literals.use("Exception ignored in").of_traceback = true;
  for (const char* head : {"*** Process received signal", "Caught signal ", "acktrace",
                           "forrtl: ", "signal (", "Problematic frame", "problematic frame", "Stack trace",
                           "stack trace", "(most recent call first)", " received signal SIG"})
    literals.use(head).begins_stack = true;
  literals.use("*** Check failure stack trace").follows_reason = true;  // glog
  for (const char* end : {"Exiting.", "exiting.", "Aborting.", "aborting."})
    literals.use(end).follows_reason = true;
  for (const char* banner :
       {"OpenFOAM: The Open Source CFD", "Program PWSCF v", "Sender: LSF System", ":-) GROMACS - "})
    literals.use(banner).begins_run = true;
  for (const std::string_view head_of_report : report_heads) literals.use(head_of_report);
  for (const TraitText& text : trait_texts()) literals.use(text.text).trait = &text;
  literals.use("DUE TO TIME LIMIT").marks_limit = true;
  literals.use("SeqNum=").of_collective = true;
  literals.use(help_ruler).rules_off = true;
  literals.use(" sent help message ").help_count = true;
  literals.use("You were supposed to get help about:").help_without_text = true;
  for (LiteralUse& use : literals.uses) {
    for (const std::uint32_t number : use.patterns) {
      const PatternRef& pattern = literals.patterns[number];
      use.marks_end = use.marks_end ||
                      (pattern.is_ending ? set.endings[pattern.owner].kind == EndingKind::rank
                                         : set.signatures[pattern.owner].kind == SignatureClass::secondary);
    }
  }
  for (const ErrorKeyword& word : error_keywords()) literals.use(word.text).salience = word.score;
  return literals;
}

PatternIndex::PatternIndex(std::shared_ptr<const SignatureSet> set) : PatternIndex(set, gather(*set)) {}

PatternIndex::PatternIndex(std::shared_ptr<const SignatureSet> set, Literals literals)
    : set_(std::move(set)),
      patterns_(std::move(literals.patterns)),
      uses_(std::move(literals.uses)),
      scanner_(std::move(literals.texts)) {}

namespace {

// Open MPI 5 renames files and topics: orte-rmaps-base:x became prte-rmaps-base:x.
std::string_view without_generation(std::string_view topic) {
  for (const std::string_view prefix : {"orte-", "prte-", "orterun:", "prun:", "prterun:"}) {
    if (topic.starts_with(prefix)) return topic.substr(prefix.size());
  }
  return topic;
}

}  // namespace

std::shared_ptr<const PatternIndex> PatternIndex::of(std::shared_ptr<const SignatureSet> set) {
  static std::mutex mutex;
  static std::shared_ptr<const PatternIndex> last;
  const std::lock_guard lock(mutex);
  if (!last || &last->set() != set.get()) last = std::make_shared<const PatternIndex>(std::move(set));
  return last;
}

int PatternIndex::signature_of_topic(std::string_view file, std::string_view topic) const {
  int same_words = -1;
  for (std::size_t i = 0; i < set_->signatures.size(); ++i) {
    for (const HelpTopic& known : set_->signatures[i].topics) {
      if (known.file == file && known.topic == topic) return static_cast<int>(i);
      // "parse_error" alone is ambiguous: a topic that matches without its file needs 12 bytes.
      const bool alike = without_generation(known.topic) == without_generation(topic) && topic.size() >= 12;
      if (alike && same_words < 0) same_words = static_cast<int>(i);
    }
  }
  return same_words;
}

}  // namespace ddlrun::diagnose
