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

}  // namespace ddlrun::testing
