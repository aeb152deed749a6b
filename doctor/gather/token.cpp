// SPDX-License-Identifier: MIT
// Gatherer "token": is the file here that the driver host has just written into the working directory?
//   dir.token.state   "seen", "not seen" (the directory is there, the file is not), "no directory"
//   dir.token.waits   seconds waited, at most 4; only file systems of a network are waited for
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::doctor {

namespace {

// statfs f_type of NFS, SMB 1 and 2, Lustre, GPFS, BeeGFS, Ceph, FUSE, 9p, AFS.
constexpr std::array<std::uint64_t, 10> network_types{0x6969,     0xff534d42, 0xfe534d42, 0x0bd00bd0,
                                                      0x47504653, 0x19830326, 0x00c36400, 0x65735546,
                                                      0x01021997, 0x5346414f};
constexpr std::uint64_t most_waits = 4;

}  // namespace

void gather_token(const GatherContext& context, Facts& facts) {
  const std::string& token = context.request.token_file;
  if (token.empty()) return;
  const SysrootFiles files(context);
  const std::string dir = token.substr(0, token.rfind('/'));
  if (!files.exists(dir.empty() ? "/" : dir)) return facts.set("dir.token.state", "no directory");
  const auto space = context.kernel.disk_space(files.at(dir));
  const bool is_network =
      space && std::find(network_types.begin(), network_types.end(), space->type) != network_types.end();
  std::uint64_t waits = 0;
  bool seen = files.exists(token);
  while (!seen && is_network && waits < most_waits) {
    context.kernel.visit_directory(files.at(dir),
                                   [](auto, auto) { return false; });  // NFS asks its server anew
    if ((seen = files.exists(token))) break;
    context.system.processes.run({"sleep", "1"}, {std::chrono::seconds(3), 0, 0, 1024});
    ++waits;
    seen = files.exists(token);
  }
  facts.set("dir.token.state", seen ? "seen" : "not seen");
  facts.set("dir.token.waits", waits);
}

}  // namespace ddlrun::doctor
