// SPDX-License-Identifier: MIT
#include "doctor/gather/process_stat.hpp"

#include "doctor/gather/sysroot_files.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {

std::optional<ProcessStat> read_process_stat(const GatherContext& context, std::uint64_t pid) {
  const auto text = SysrootFiles(context).read(fmt::format("/proc/{}/stat", pid), 4096);
  return text ? parse_process_stat(*text) : std::nullopt;
}

std::vector<ProcessStat> read_ancestors(const GatherContext& context) {
  std::vector<ProcessStat> chain;
  auto at = read_process_stat(context, context.kernel.process_id());
  while (at && at->parent > 0 && chain.size() < 64) {
    at = read_process_stat(context, at->parent);
    if (at) chain.push_back(*at);
  }
  return chain;
}

}  // namespace ddlrun::doctor
