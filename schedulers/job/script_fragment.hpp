// SPDX-License-Identifier: MIT
// Text of templates/script/NAME.sh with values at its placeholders. Such a file begins with comments for its
// readers; the script gets the lines below "# ----- the lines below go into the script -----".
//   @name@ within a line   one value
//   @name@ alone           a value, or a block of lines; an empty block removes the line
#pragma once

#include "schedulers/job/script_forms.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// What stands at a placeholder. Text from the user enters by `quoted` only (or by the checks of
// script_forms.hpp).
class ScriptValue {
 public:
  // One word, or several, quoted for bash. Error{request} as shell_word().
  static ScriptValue quoted(std::string_view word);
  static ScriptValue quoted(const std::vector<std::string>& words);
  static ScriptValue number(std::uint64_t number);
  // Shell text that ddlrun itself wrote: constants, names that variable_name() accepted, words quoted
  // already.
  static ScriptValue checked(std::string text);
  static ScriptValue block(const Lines& lines);

  const std::string& text() const { return text_; }

 private:
  explicit ScriptValue(std::string text) : text_(std::move(text)) {}
  std::string text_;
};
using ScriptValues = std::map<std::string_view, ScriptValue>;

// The fragment's text, each line ended by a line break. Error{internal} for an unknown file or a placeholder
// without value. Values are not searched for placeholders.
std::string script_text(std::string_view name, const ScriptValues& values = {});
Lines script_lines(std::string_view name, const ScriptValues& values = {});

}  // namespace ddlrun::schedulers
