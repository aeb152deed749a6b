// SPDX-License-Identifier: MIT
// `ddl-bench allreduce` from its words to its table.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::ddl_bench {

// `words` of the whole command line behind the program's name. Returns the exit status: 1 if elements are
// wrong. `check-options OPTIONS` only judges them, before any rank starts.
int run_bench_command(const std::vector<std::string>& words);

}  // namespace ddlrun::ddl_bench
