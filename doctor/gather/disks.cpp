// SPDX-License-Identifier: MIT
// Gatherer "disks": the file systems that the job writes to. Each directory is looked at in a child of its
// own, so that a mount whose server is gone costs that directory only.
//   disk.ROLE.path           ROLE: tmp (the job's TMPDIR, else ours, else /tmp), work, checkpoint
//   disk.ROLE.state          "ok", "missing", "hung" (no answer within 2 s)
//   disk.ROLE.existing       the directory itself, or the nearest one above it that is there
//   disk.ROLE.milliseconds   that the first look took
//   disk.ROLE.total_bytes, .free_bytes, .inodes, .free_inodes, .type (f_type, decimal), .read_only "yes"/"no"
//   disk.ROLE.writable       "yes" or "no": may this user write into .existing
//   disk.ROLE.mount, .source, .fs   where it is mounted, from what, as what ("nfs4"), from /proc/self/mounts
#include "base/text/text.hpp"
#include "doctor/gather/mounts.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <fmt/format.h>

#include <chrono>

namespace ddlrun::doctor {

namespace {

constexpr std::chrono::milliseconds look_limit{2000};

struct Look {
  std::string role, path;
};

std::vector<Look> plan_looks(const GatherContext& context) {
  const ProbeRequest& request = context.request;
  std::string temporary = request.temporary_dir;
  if (temporary.empty()) temporary = context.system.environment.get("TMPDIR");
  std::vector<Look> looks{{"tmp", temporary.empty() ? "/tmp" : temporary}};
  if (!request.workdir.empty()) looks.push_back({"work", request.workdir});
  if (!request.checkpoint_dir.empty()) looks.push_back({"checkpoint", request.checkpoint_dir});
  return looks;
}

// Runs in the child; its answer is "name value" lines.
std::string look_at_disk(const GatherContext& context, const std::string& path) {
  HostInfo& kernel = context.kernel;
  std::string existing = context.root + path;
  const auto before = std::chrono::steady_clock::now();
  const bool is_there = kernel.file_info(existing, true).has_value();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
  while (!kernel.file_info(existing, true) && existing != "/" && existing != ".")
    existing = directory_of(existing);
  std::string answer =
      fmt::format("state {}\nexisting {}\nmilliseconds {}\nwritable {}\n", is_there ? "ok" : "missing",
                  existing.substr(context.root.size()), static_cast<std::uint64_t>(took.count()),
                  kernel.may_access(existing, Access::write) ? "yes" : "no");
  if (const auto space = kernel.disk_space(existing)) {
    answer += fmt::format("total_bytes {}\nfree_bytes {}\ninodes {}\nfree_inodes {}\ntype {}\nread_only {}\n",
                          space->total_bytes, space->free_bytes, space->inodes, space->free_inodes,
                          space->type, space->read_only ? "yes" : "no");
  }
  return answer;
}

void set_mount(const std::string& table, const std::string& path, const std::string& fact, Facts& facts) {
  const auto mount = find_mount(table, path);
  if (!mount) return;
  facts.set(fact + ".mount", mount->point.substr(0, 1024));
  facts.set(fact + ".source", mount->source.substr(0, 1024));
  facts.set(fact + ".fs", mount->type.substr(0, 64));
}

void set_disk_answer(const ProcessResult& result, const std::string& fact, Facts& facts) {
  if (result.timed_out) return facts.set(fact + ".state", "hung");
  if (!result.ok()) {
    return facts.set_unknown(fact + ".state",
                             fmt::format("looking at it ended with status {}", result.exit_status));
  }
  for (const std::string_view line : split(result.out, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string_view::npos)
      facts.set(fact + "." + std::string(line.substr(0, blank)), line.substr(blank + 1));
  }
}

}  // namespace

void gather_disks(const GatherContext& context, Facts& facts) {
  const std::vector<Look> looks = plan_looks(context);
  std::vector<std::pair<ChildFunction, std::chrono::milliseconds>> functions;
  for (const Look& look : looks) {
    functions.emplace_back([&context, &look] { return look_at_disk(context, look.path); }, look_limit);
  }
  const auto results = context.system.processes.run_functions(functions);
  const std::string mounts = SysrootFiles(context).read("/proc/self/mounts", 1 << 20).value_or("");
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const std::string fact = "disk." + looks[i].role;
    facts.set(fact + ".path", looks[i].path.substr(0, 4096));
    set_disk_answer(results[i], fact, facts);
    const auto existing = facts.text(fact + ".existing");
    set_mount(mounts, existing ? std::string(*existing) : looks[i].path, fact, facts);
  }
}

}  // namespace ddlrun::doctor
