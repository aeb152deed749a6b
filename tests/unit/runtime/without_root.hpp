// SPDX-License-Identifier: MIT
// The rights of an ordinary user for a part of a test, also where root runs it: root may read everything.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace ddlrun::runtime {

class WithoutRoot {
 public:
  WithoutRoot() {
    if (own_ == 0 && seteuid(nobody) != 0) std::abort();
  }
  ~WithoutRoot() {
    if (own_ == 0 && seteuid(own_) != 0) std::abort();
  }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
  uid_t own_ = geteuid();
};

}  // namespace ddlrun::runtime
