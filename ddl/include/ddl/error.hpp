// SPDX-License-Identifier: MIT
// The only type that libddl throws: what is wrong, where, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace ddl {

enum class Fault {
  usage,       // an invalid argument: an unknown mode, average of int32
  mismatch,    // ranks made different calls: another order, size, type or tensor
  lost,        // a rank ended, or did not make the call within the timeout
  unsupported  // this build or machine cannot do it: no GPU, no such back end
};

class Error : public std::runtime_error {
 public:
  // `where` names ranks and hosts, "rank 3 (h2)", or after usage the tensor or the option; it may be empty.
  // `hint` is never empty.
  Error(Fault fault, const std::string& what, std::string where, std::string hint)
      : std::runtime_error(what), fault_(fault), where_(std::move(where)), hint_(std::move(hint)) {}

  Fault fault() const { return fault_; }
  const std::string& where() const { return where_; }
  const std::string& hint() const { return hint_; }
  // All three for a person, a line each: "what\n  at:  where\n  try: hint". Without the line of an empty
  // `where`, and without a newline at the end: std::cerr << text() + '\n' is one write, so that the lines of
  // several ranks do not mix.
  std::string text() const {
    std::string text = what();
    if (!where_.empty()) text += "\n  at:  " + where_;
    return text + "\n  try: " + hint_;
  }

 private:
  Fault fault_;
  std::string where_;
  std::string hint_;
};

}  // namespace ddl
