// SPDX-License-Identifier: MIT
#include "base/process/posix_tree_usage.hpp"

#include "base/process/posix_process_tree.hpp"
#include "base/text/text.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace ddlrun {

namespace {

std::uint64_t counter(std::string_view text) { return parse_unsigned(trim(text)).value_or(0); }

void add_usage(TreeUsage& usage, const Process& process) {
  constexpr std::uint64_t ms_per_tick = 10;
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (process.id.pid < 0) return;
  usage.cpu_ms += (process.cpu_ticks + process.waited_ticks) * ms_per_tick;
  usage.resident_bytes += process.resident_pages * page_bytes;
  usage.stopped = usage.stopped || process.state == 'T' || process.state == 't';
  const std::string io = read_small(fmt::format("/proc/{}/io", process.id.pid));
  const auto io_count = [&](std::string_view key) { return find_io_count(io, key).value_or(0); };
  // A file that is mapped is read without a call.
  usage.io_bytes += std::max(io_count("rchar: "), io_count("read_bytes: ")) + io_count("wchar: ");
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* const dir = ::opendir(directory.c_str());
  if (dir == nullptr) return names;
  while (const dirent* entry = ::readdir(dir))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  ::closedir(dir);
  return names;
}

// Whether there is any port with counters.
bool add_ports(HostTraffic& traffic) {
  constexpr std::uint64_t bytes_per_word = 4;  // the counters of InfiniBand count words
  const std::string devices = "/sys/class/infiniband";
  bool any = false;
  for (const std::string& device : names_in(devices)) {
    const std::string ports = devices + "/" + device + "/ports";
    for (const std::string& port : names_in(ports)) {
      const std::string counters = ports + "/" + port + "/counters/";
      const std::string received = read_small(counters + "port_rcv_data");
      any = any || !received.empty();
      traffic.received += bytes_per_word * counter(received);
      traffic.sent += bytes_per_word * counter(read_small(counters + "port_xmit_data"));
    }
  }
  return any;
}

bool is_device(const std::string& interface) {
  return ::access(("/sys/class/net/" + interface + "/device").c_str(), F_OK) == 0;
}

bool is_infiniband(const std::string& interface) {
  return trim(read_small("/sys/class/net/" + interface + "/type")) == "32";  // ARPHRD_INFINIBAND
}

}  // namespace

TreeUsage read_tree_usage(pid_t root) {
  TreeUsage usage;
  add_usage(usage, read_process(root));
  for (const Process& process : find_descendants(root)) add_usage(usage, process);
  return usage;
}

HostTraffic parse_traffic(std::string_view text, const std::function<bool(const std::string& name)>& counts) {
  HostTraffic traffic;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // of the head
    const auto fields = split_blanks(line.substr(colon + 1));
    if (fields.size() < 9 || !counts(std::string(trim(line.substr(0, colon))))) continue;
    traffic.received += counter(fields[0]);
    traffic.sent += counter(fields[8]);
  }
  return traffic;
}

HostTraffic read_host_traffic() {
  HostTraffic traffic;
  const bool has_ports = add_ports(traffic);
  const std::string text = read_small("/proc/net/dev");
  bool any_device = false;
  const auto of_devices = parse_traffic(text, [&](const std::string& name) {
    const bool is_one = is_device(name);
    any_device = any_device || is_one;
    return is_one && !(has_ports && is_infiniband(name));
  });
  const auto of_all = parse_traffic(text, [](const std::string& name) { return name != "lo"; });
  const HostTraffic& by_ip = any_device ? of_devices : of_all;
  return {traffic.received + by_ip.received, traffic.sent + by_ip.sent};
}

}  // namespace ddlrun
