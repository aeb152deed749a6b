// SPDX-License-Identifier: MIT
// Gatherer "user": who we are here, and what others could connect to.
//   user.name, user.uid, user.gid, user.groups (list of numbers)
//   listen.open       list of "PORT UID", sockets that listen on every address; only the job's ports, 6006
//                     (TensorBoard), 8888 (Jupyter), 28028 (NCCL RAS), 29500 (torch rendezvous)
//   site.kisti        "yes" if this host's name is one of KISTI's
//   listen.public     "yes" where an interface here has an address that is not private
// Gatherer "security": what others could change. Its own, since a hung mount hangs it.
//   loose.looked      number of entries checked: working directory, checkpoint directory, executable,
//                     entries of LD_LIBRARY_PATH, files that the program's arguments name; on the driver
//                     host also the hostfile and the rankfile (ROLE "job-file")
//   loose.paths       list of "ROLE MODE UID GID PATH" of those that another user than we and root owns, or
//                     that group or others may write (MODE octal, with the sticky bit); at most 16
// Sources: getuid, stat, /proc/net/tcp and tcp6, getifaddrs.
#include "base/text/text.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"
#include "doctor/parse/hex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_entries = 64;

void set_identity(const Identity& who, Facts& facts) {
  facts.set("user.name", who.user.substr(0, 256));
  facts.set("user.uid", who.uid);
  facts.set("user.gid", who.gid);
  std::vector<std::string> groups;
  for (const std::uint32_t group : who.groups) {
    if (groups.size() < 256) groups.push_back(std::to_string(group));
  }
  facts.set_list("user.groups", groups);
}

struct Entry {
  std::string_view role;
  std::string path;
};

std::vector<Entry> plan_entries(const GatherContext& context) {
  const ProbeRequest& request = context.request;
  std::vector<Entry> entries{{"working-directory", request.workdir},
                             {"checkpoint-directory", request.checkpoint_dir},
                             {"executable", request.executable}};
  const auto exported = request.environment.find("LD_LIBRARY_PATH");
  const std::string libraries = exported != request.environment.end()
                                    ? exported->second
                                    : context.system.environment.get("LD_LIBRARY_PATH");
  for (const std::string_view dir : split(libraries, ':')) entries.push_back({"library", std::string(dir)});
  for (const std::string& file : request.program_files) entries.push_back({"file", file});
  const std::string here = context.system.environment.workdir + "/";
  for (const std::string& file : request.own_files) {
    if (!file.empty()) entries.push_back({"job-file", file[0] == '/' ? file : here + file});
  }
  std::erase_if(entries, [](const Entry& entry) { return !entry.path.starts_with('/'); });
  if (entries.size() > most_entries) entries.resize(most_entries);
  return entries;
}

void gather_loose(const GatherContext& context, const Identity& who, Facts& facts) {
  const std::vector<Entry> entries = plan_entries(context);
  std::vector<std::string> loose;
  for (const Entry& entry : entries) {
    const auto info = context.kernel.file_info(SysrootFiles(context).at(entry.path), true);
    if (!info) continue;
    const bool is_foreign = info->uid != 0 && info->uid != who.uid;
    if (!is_foreign && (info->mode & 022) == 0) continue;
    loose.push_back(fmt::format("{} {:o} {} {} {}", entry.role, info->mode, info->uid, info->gid,
                                printable(entry.path, 256)));
    if (loose.size() == 16) break;
  }
  facts.set("loose.looked", entries.size());
  facts.set_list("loose.paths", loose);
}

// A line of /proc/net/tcp: "0: 00000000:1772 00000000:0000 0A ... UID ..."; state 0A listens.
void add_open_port(std::string_view line, const std::set<std::uint64_t>& wanted,
                   std::set<std::string>& open) {
  std::vector<std::string_view> words = split(line, ' ');
  std::erase(words, std::string_view());
  if (words.size() < 8 || words[3] != "0A") return;
  const std::size_t colon = words[1].find(':');
  const std::string_view address = words[1].substr(0, colon);
  const bool is_any = address.find_first_not_of('0') == std::string_view::npos;
  const auto port = colon == std::string_view::npos ? std::nullopt : parse_hex(words[1].substr(colon + 1));
  if (is_any && port && wanted.count(*port) > 0) open.insert(fmt::format("{} {}", *port, words[7]));
}

bool is_private(std::string_view address) {
  const auto parts = split(address.substr(0, address.find('/')), '.');
  if (parts.size() != 4) {  // IPv6: link-local, unique local and loopback are private
    return address.starts_with("fe80:") || address.starts_with("fc") || address.starts_with("fd") ||
           address.starts_with("::1");
  }
  const auto first = parse_unsigned(parts[0]), second = parse_unsigned(parts[1]);
  if (!first || !second) return true;
  return *first == 10 || *first == 127 || (*first == 172 && *second >= 16 && *second < 32) ||
         (*first == 192 && *second == 168) || (*first == 169 && *second == 254) ||
         (*first == 100 && *second >= 64 && *second < 128);
}

void gather_listeners(const GatherContext& context, Facts& facts) {
  std::set<std::uint64_t> wanted{6006, 8888, 28028, 29500};
  wanted.insert(context.request.ports.begin(), context.request.ports.end());
  std::erase_if(wanted, [](std::uint64_t port) { return port < 1024; });  // the system's: sshd
  std::set<std::string> open;
  for (const std::string_view table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const std::string text = SysrootFiles(context).read(table, 4 << 20).value_or("");
    for (const std::string_view line : split(text, '\n')) add_open_port(line, wanted, open);
  }
  facts.set_list("listen.open", {open.begin(), open.end()});
  bool is_public = false;
  for (const NetworkInterface& interface : context.kernel.interfaces()) {
    for (const std::string& address : interface.addresses) is_public |= !is_private(address);
  }
  facts.set("listen.public", is_public ? "yes" : "no");
}

}  // namespace

void gather_user(const GatherContext& context, Facts& facts) {
  set_identity(context.kernel.identity(), facts);
  gather_listeners(context, facts);
  const std::string& host = context.system.environment.host_name;
  const bool is_kisti = host.find("kisti") != std::string::npos || host.ends_with(".ksc.re.kr");
  if (is_kisti) facts.set("site.kisti", "yes");
}

void gather_security(const GatherContext& context, Facts& facts) {
  gather_loose(context, context.kernel.identity(), facts);
}

}  // namespace ddlrun::doctor
