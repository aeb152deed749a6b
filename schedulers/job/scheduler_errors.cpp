// SPDX-License-Identifier: MIT
#include "schedulers/job/scheduler_errors.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <vector>

namespace ddlrun::schedulers {

namespace {

// "sbatch: error: Batch job submission failed: x" -> "Batch job submission failed: x"
std::string_view without_prefix(std::string_view line) {
  for (const std::string_view tool :
       {"sbatch", "squeue", "scontrol", "scancel", "qsub", "qstat", "qdel", "pbsnodes"}) {
    if (line.substr(0, tool.size()) != tool || line.substr(tool.size(), 2) != ": ") continue;
    line.remove_prefix(tool.size() + 2);
    break;
  }
  if (line.substr(0, 7) == "error: ") line.remove_prefix(7);
  return line;
}

std::string all_words(const ProcessResult& answer) { return answer.err + "\n" + answer.out; }

}  // namespace

std::string reported_text(const ProcessResult& answer) {
  const std::string& output = trim(answer.err).empty() ? answer.out : answer.err;
  std::vector<std::string> lines;
  for (const std::string_view line : split(output, '\n')) {
    const std::string_view words = without_prefix(trim(line));
    if (!words.empty() && lines.size() < 4) lines.push_back(printable(words));
  }
  return join(lines, "; ");
}

const KnownError* find_known_error(std::span<const KnownError> table, const ProcessResult& answer) {
  const std::string output = all_words(answer);
  for (const KnownError& row : table) {
    const bool status_fits = row.exit_status == 0 || row.exit_status == answer.exit_status;
    if (status_fits && output.find(row.words) != std::string::npos) return &row;
  }
  return nullptr;
}

void throw_scheduler_error(std::string_view tool, const ProcessResult& answer,
                           std::span<const KnownError> table) {
  if (!answer.start_error.empty())
    throw Error(ErrorKind::request,
                {fmt::format("{} cannot be started: {}", tool, answer.start_error), "PATH",
                 fmt::format("command -v {}; then a login node of the cluster, or "
                             "`module load` what brings it",
                             tool)});
  if (answer.timed_out)
    throw Error(ErrorKind::unreachable, {fmt::format("{} did not answer in time", tool), std::string(tool),
                                         "ddlrun status, before you submit again: it may have been taken"});
  const std::string words = reported_text(answer);
  const std::string output = words.empty()
                                 ? fmt::format("exit status {}, without a message", answer.exit_status)
                                 : fmt::format("\"{}\" (exit status {})", words, answer.exit_status);
  const KnownError* row = find_known_error(table, answer);
  if (row == nullptr)
    throw Error(ErrorKind::scheduler,
                {fmt::format("{} refused: {}", tool, output), std::string(tool),
                 fmt::format("its own message above states the cause; man {} has its options", tool)});
  throw Error(row->unreachable ? ErrorKind::unreachable : ErrorKind::scheduler,
              {fmt::format("{}: {} reports {}", row->meaning, tool, output), std::string(tool),
               std::string(row->remedy)});
}

}  // namespace ddlrun::schedulers
