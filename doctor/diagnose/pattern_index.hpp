// SPDX-License-Identifier: MIT
// The signatures indexed for reading a log: one scanner for the fixed texts of every pattern's first line,
// and the patterns that each text may begin.
#pragma once

#include "doctor/diagnose/literal_scanner.hpp"
#include "doctor/diagnose/run_traits.hpp"
#include "doctor/diagnose/signature.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

// One pattern: of signature `owner`, or of ending `owner`.
struct PatternRef {
  std::uint32_t owner = 0;
  bool is_ending = false;
  const MessagePattern* lines = nullptr;
  std::size_t weight = 0;  // bytes of fixed text: the more, the more specific
};

// What a literal may be the beginning of.
struct LiteralUse {
  std::vector<std::uint32_t> patterns;
  bool marks_end = false;          // an ending, or a consequence
  int salience = 0;                // of a line with it, 0 to 100
  bool of_traceback = false;       // a head or a frame of Python
  bool begins_run = false;         // the banner of a program
  bool follows_reason = false;     // the line before it is the reason
  bool begins_stack = false;       // announces the stack of a crash
  bool marks_limit = false;        // reports the time limit of the job
  bool of_collective = false;      // the watchdog's line on a collective
  bool help_count = false;         // "3 more processes have sent help message FILE / TOPIC"
  bool help_without_text = false;  // "Sorry!  You were supposed to get help about:"
  bool rules_off = false;          // a part of a line of dashes
  const TraitText* trait = nullptr;
};

class PatternIndex {
 public:
  explicit PatternIndex(std::shared_ptr<const SignatureSet> set);

  // The index of `set`; the last one is kept, because to make it takes longer than to read a short log.
  static std::shared_ptr<const PatternIndex> of(std::shared_ptr<const SignatureSet> set);

  const SignatureSet& set() const { return *set_; }
  const LiteralScanner& scanner() const { return scanner_; }
  const LiteralUse& use_of(std::uint32_t literal) const { return uses_[literal]; }
  const PatternRef& pattern(std::uint32_t number) const { return patterns_[number]; }
  // The signature's number for a help topic of either generation of Open MPI, or -1.
  int signature_of_topic(std::string_view file, std::string_view topic) const;

 private:
  struct Literals;
  explicit PatternIndex(std::shared_ptr<const SignatureSet> set, Literals literals);
  static Literals gather(const SignatureSet& set);

  std::shared_ptr<const SignatureSet> set_;
  std::vector<PatternRef> patterns_;
  std::vector<LiteralUse> uses_;
  LiteralScanner scanner_;
};

}  // namespace ddlrun::diagnose
