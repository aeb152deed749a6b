// SPDX-License-Identifier: MIT
#include "cli/run_output.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/run_store.hpp"
#include "launch/monitor/rank_files.hpp"
#include "schedulers/client/job_log.hpp"

#include <fmt/format.h>

namespace ddlrun::cli {

void print_run_output(System& system, const std::string& run) {
  const std::string directory = launch::find_run_directory(system, run);
  const std::uint64_t ranks = launch::read_run(system, directory, false).rank_count;
  bool any = false;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (const auto stream : {launch::RankStream::out, launch::RankStream::err}) {
      const std::string path = launch::rank_file(directory, rank, stream);
      if (!system.files.exists(path)) continue;
      any = true;
      schedulers::JobLog log(path);
      const std::string head = fmt::format("==> {} <==\n", path);
      bool is_first = true;
      log.take(system, [&](std::string_view bytes) {
        if (is_first) system.out(head);
        is_first = false;
        system.out(bytes);
      });
      if (!log.at_line_start()) system.out("\n");
    }
  }
  if (any) return;
  const std::string word = quote_shell(printable(run, 200));
  throw Error(
      ErrorKind::request,
      {"launch kept no output of this run: that needs --tee or --rank-output files", directory,
       fmt::format("ddlrun diagnose {}   # its last lines; for the next run: ddlrun launch --tee", word)});
}

}  // namespace ddlrun::cli
