// SPDX-License-Identifier: MIT
// The most telling line of a log that no signature explains, by general rules: an exception or an error in
// words before a crash, the earliest of the same weight; the class of the error (signatures of class L) gives
// the remedies.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/salient_lines.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

constexpr std::size_t max_headline = 200;  // bytes

// The line that explains the failure best, or nullptr where none has at least `min_score`.
const SalientLine* most_telling(const std::vector<SalientLine>& lines, int min_score);

// "srun: error: task 0 launch failed: Plugin initialization failed" has no reason: the nearest of `lines`
// that ends with the error of a system call has it, before or behind. Else `line` itself.
const SalientLine* with_reason(const SalientLine& line, const std::vector<SalientLine>& lines);

// The error of `line` in one line: the innermost call of MPICH's error stack, what() after "terminate
// called", the following lines after a colon.
std::string error_headline(const SalientLine& line, std::size_t limit = max_headline);

// The signature of class L whose words are in `text`; the last one of the set fits every text.
const Signature* error_class(const SignatureSet& set, std::string_view text);
bool is_of_class(std::string_view text, std::string_view id, const SignatureSet& set);

// What {value} of the signature's patterns stands for in `text`, or "".
std::string value_in(const Signature& signature, std::string_view text);

}  // namespace ddlrun::diagnose
