// SPDX-License-Identifier: MIT
#include "schedulers/client/stop_reason.hpp"

#include "base/os/host_info.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"

namespace ddlrun::schedulers {

namespace {

using PrintedLines = std::span<const std::string_view>;

constexpr std::string_view reason_lead = "ddlrun job: ", remedy_lead = "  try: ";
constexpr std::uint64_t max_reason_bytes = 1u << 14;  // two lines, each with a path at most

// The reason in lines `at` and `at` + 1.
std::optional<StopReason> reason_at(PrintedLines lines, std::size_t at) {
  if (at + 1 >= lines.size() || !lines[at].starts_with(reason_lead) ||
      !lines[at + 1].starts_with(remedy_lead))
    return std::nullopt;
  return StopReason{std::string(lines[at].substr(reason_lead.size())),
                    std::string(lines[at + 1].substr(remedy_lead.size()))};
}

bool is_own_file(System& system, const std::string& path) {
  if (system.kernel == nullptr) return false;
  const auto info = system.kernel->file_info(path, false);
  return info && info->kind == FileInfo::Kind::file && info->uid == system.kernel->identity().uid;
}

}  // namespace

std::optional<StopReason> read_stop_reason(System& system, const JobRef& job) {
  if (!job.submitted_here()) return std::nullopt;
  const std::string file = job.files().stop_reason() + (job.task.empty() ? "" : "." + job.task);
  if (!is_own_file(system, file)) return std::nullopt;
  try {
    const auto part = system.files.read_from(file, 0, max_reason_bytes);
    return part ? reason_at(split(part->bytes, '\n'), 0) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // not readable: the log is diagnosed as that of any job
  }
}

std::optional<StopReason> find_stop_reason(PrintedLines log) {
  for (std::size_t i = log.size(); i-- > 0;)
    if (auto reason = reason_at(log, i)) return reason;
  return std::nullopt;
}

PrintedLines lines_above(PrintedLines log, const StopReason& reason) {
  for (std::size_t i = log.size(); i-- > 0;) {
    const auto found = reason_at(log, i);
    if (found && found->what == reason.what && found->remedy == reason.remedy) return log.first(i);
  }
  return {};
}

}  // namespace ddlrun::schedulers
