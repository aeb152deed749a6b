// SPDX-License-Identifier: MIT
// Which sanitizer the tests are built with: they make some loops minutes long, and TSan does not follow
// forks.
#pragma once

namespace ddlrun::testing {

#ifdef __SANITIZE_ADDRESS__
constexpr bool with_asan = true;
#else
constexpr bool with_asan = false;
#endif
#ifdef __SANITIZE_THREAD__
constexpr bool with_tsan = true;
#else
constexpr bool with_tsan = false;
#endif

// Of many cases of one kind: all of them, but under AddressSanitizer, which makes each some ten times as
// long, every seventh, so that nested loops of other lengths meet all their values.
class Sample {
 public:
  bool takes_next() { return !with_asan || count_++ % 7 == 0; }

 private:
  int count_ = 0;
};

}  // namespace ddlrun::testing
