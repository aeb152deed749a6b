// SPDX-License-Identifier: MIT
// The kernel log's lines about GPUs and links. Read only if such devices exist: dmesg, and where
// that is for root only, the journal.
//   log.source                "dmesg", "journalctl", or why neither can be read
//   log.error.xid             one a line, the newest 64: "AGE XID PCI" (seconds ago; "0000:3b:00")
//   log.error.link            links that went down, likewise: "AGE NAME"; not in the first 2 minutes
#include "base/text/text.hpp"
#include "doctor/gather/device.hpp"
#include "doctor/gather/device_log.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {
namespace {

struct LogText {
  std::string source, text, problem;
};

LogText read_log(const GatherContext& context) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(3);
  limits.output_bytes = 16u << 20;
  std::string problem;
  const Command commands[] = {
      {"dmesg"}, {"journalctl", "-k", "-b", "-q", "--no-pager", "-o", "short-monotonic", "-n", "20000"}};
  for (const Command& command : commands) {
    ProcessResult result = context.system.processes.run(command, limits);
    if (result.ok() && !result.out.empty()) return {command[0], std::move(result.out), ""};
    if (problem.empty())
      problem = result.start_error.empty() ? std::string(trim(result.err)) : result.start_error;
  }
  return {"", "", "the kernel's log is not readable here: " + printable(problem, 120)};
}

// Names of RDMA devices in kernel messages: their own, their interfaces', their PCI address.
std::vector<std::string> link_names(const SysrootFiles& files, const std::vector<std::string>& devices) {
  std::vector<std::string> names = devices;
  for (const std::string& device : devices) {
    const auto interfaces = files.list("/sys/class/infiniband/" + device + "/device/net");
    names.insert(names.end(), interfaces.begin(), interfaces.end());
  }
  return names;
}

template <typename Event, typename Render>
std::vector<std::string> newest(const std::vector<Event>& events, const Render& render) {
  std::vector<std::string> lines;
  for (std::size_t i = events.size() > 64 ? events.size() - 64 : 0; i < events.size(); ++i) {
    lines.push_back(render(events[i]));
  }
  return lines;
}

}  // namespace

void gather_device_log(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  const auto devices = find_rdma_devices(files);
  const bool has_gpu = files.exists("/dev/nvidiactl");
  if (devices.empty() && !has_gpu) return;
  const auto uptime = files.line("/proc/uptime");
  const auto now = uptime ? parse_unsigned(uptime->substr(0, uptime->find('.'))) : std::nullopt;
  const LogText log = now ? read_log(context) : LogText{"", "", "no /proc/uptime"};
  if (!log.problem.empty()) {
    facts.set_unknown("log.source", log.problem);
    return;
  }
  facts.set("log.source", log.source);
  const DeviceEvents events = parse_device_log(log.text, link_names(files, devices));
  const auto age = [&](double seconds) {
    return seconds > static_cast<double>(*now) ? 0 : *now - static_cast<std::uint64_t>(seconds);
  };
  facts.set_list("log.error.xid", newest(events.xids, [&](const XidEvent& event) {
                   return fmt::format("{} {} {}", age(event.seconds), event.xid, event.pci);
                 }));
  facts.set_list("log.error.link", newest(events.links_down, [&](const LinkEvent& event) {
                   return fmt::format("{} {}", age(event.seconds), event.name);
                 }));
}

}  // namespace ddlrun::doctor
