// SPDX-License-Identifier: MIT
#include "cli/run_ids.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/cancel_run.hpp"

#include <fmt/format.h>

namespace ddlrun::cli {

void refuse_run_ids(const std::vector<std::string>& ids, const std::string& command) {
  for (const std::string& id : ids) {
    if (!launch::names_run(id) || id.find('/') != std::string::npos) continue;
    const std::string word = printable(id, 80);
    throw Error(
        ErrorKind::request,
        {fmt::format("'{}' is a run of ddlrun launch, and {} takes jobs of ddlrun submit", word, command), "",
         fmt::format("ddlrun history; ddlrun report {}; ddlrun logs {}", word, word)});
  }
}

}  // namespace ddlrun::cli
