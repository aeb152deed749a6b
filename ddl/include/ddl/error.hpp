// SPDX-License-Identifier: MIT
// The only type that libddl throws: what is wrong, where, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace ddl {

enum class Fault {
  usage,       // a call that cannot be right on any rank: a wrong mode, average of int32
  mismatch,    // ranks called different things: another order, size, type or tensor
  lost,        // a rank died, or has not come within the deadline
  unsupported  // this build or machine cannot: no GPU, no such back end
};

class Error : public std::runtime_error {
 public:
  // `where` names ranks and hosts, "rank 3 (h2)"; it may be empty. `hint` is never empty.
  Error(Fault fault, const std::string& what, std::string where, std::string hint)
      : std::runtime_error(what), fault_(fault), where_(std::move(where)), hint_(std::move(hint)) {}

  Fault fault() const { return fault_; }
  const std::string& where() const { return where_; }
  const std::string& hint() const { return hint_; }

 private:
  Fault fault_;
  std::string where_;
  std::string hint_;
};

}  // namespace ddl
