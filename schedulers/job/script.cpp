// SPDX-License-Identifier: MIT
#include "schedulers/job/script.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

namespace ddlrun::schedulers {

namespace {

// The last line of defence: what made the directive must have refused this.
void check_one_line(const std::string& directive) {
  for (const char c : directive) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) continue;
    throw Error(ErrorKind::internal, {"a directive of the job script holds a control byte",
                                      printable(directive, 60), "report this with the job's ddlrun.yaml"});
  }
}

}  // namespace

std::string Script::text() const {
  std::string text = shebang + "\n";
  for (const std::string& directive : directives) {
    check_one_line(directive);
    text += sentinel + " " + directive + "\n";
  }
  for (const std::string& line : body) text += line + "\n";
  return text;
}

}  // namespace ddlrun::schedulers
