// SPDX-License-Identifier: MIT
// Load by the vendors' own tools where they are installed (--stress).
//   dcgm.failed               tests of `dcgmi diag -r 1` that failed: "PCIe: Fail - GPU: 0: why", one a line
//   dcgm.passed               how many passed
//   nccl.load.busbw           GB/s in hundredths by all_reduce_perf over all GPUs of the host
//   nccl.wrong                values that it found wrong
//   ib.load.mbits             Mb/s by ib_write_bw to the next host of the job
//   ib.bw.to .device          that host, our device; ib.bw.rate_mbits: the port's rate
#include "base/text/text.hpp"
#include "doctor/gather/device.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/gather/tool_output.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {
namespace {

constexpr const char* port_number = "18515";

ProcessLimits limits_of(int seconds) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(seconds);
  limits.output_bytes = 1u << 20;
  return limits;
}

// Its own last words, where a tool ended badly.
std::string last_words_of_tool(const std::string& tool, const ProcessResult& result) {
  if (result.timed_out) return tool + " gave no answer in time";
  if (!result.start_error.empty()) return tool + ": " + result.start_error;
  const std::string_view all = trim(result.err.empty() ? result.out : result.err);
  return fmt::format(
      "{} ended with status {}: {}", tool, result.exit_status,
      printable(all.substr(all.rfind('\n') == std::string_view::npos ? 0 : all.rfind('\n') + 1), 160));
}

void run_dcgm(const GatherContext& context, Facts& facts) {
  if (find_in_path(context, "dcgmi").empty())
    return facts.set_unknown("dcgm.failed", "dcgmi is not installed");
  const ProcessResult result = context.system.processes.run({"dcgmi", "diag", "-r", "1"}, limits_of(50));
  const auto report = parse_dcgm(result.out);
  if (!report) return facts.set_unknown("dcgm.failed", last_words_of_tool("dcgmi", result));
  facts.set("dcgm.passed", report->passed);
  facts.set_list("dcgm.failed", report->failed);
}

void run_nccl_tests(const GatherContext& context, std::size_t gpus, Facts& facts) {
  if (find_in_path(context, "all_reduce_perf").empty()) {
    return facts.set_unknown("nccl.load.busbw", "nccl-tests (all_reduce_perf) is not installed");
  }
  const Command command = {"all_reduce_perf",   "-b", "64M", "-e", "256M", "-f", "2", "-g",
                           std::to_string(gpus)};
  const ProcessResult result = context.system.processes.run(command, limits_of(50));
  const auto report = parse_nccl_tests(result.out);
  if (!report) return facts.set_unknown("nccl.load.busbw", last_words_of_tool("all_reduce_perf", result));
  facts.set("nccl.load.busbw", report->bus_hundredths);
  facts.set("nccl.wrong", report->wrong);
}

struct Port {
  std::string device, port;
  std::uint64_t rate_mbits = 0;
};

std::optional<Port> first_active_port(const SysrootFiles& files) {
  for (const std::string& device : find_rdma_devices(files)) {
    const std::string dir = "/sys/class/infiniband/" + device + "/ports";
    for (const std::string& port : files.list(dir)) {
      const auto state = files.line(fmt::format("{}/{}/state", dir, port));
      if (!state || state->find("ACTIVE") == std::string::npos) continue;
      const std::string rate = files.line(fmt::format("{}/{}/rate", dir, port)).value_or("");
      const auto gbits = parse_unsigned(rate.substr(0, rate.find_first_not_of("0123456789")));
      return Port{device, port, gbits.value_or(0) * 1000};
    }
  }
  return std::nullopt;
}

// The next host in the job's list, round in a ring; "" where this one is alone or not in it.
std::string next_host(const ProbeRequest& request) {
  const auto& names = request.names;
  const auto here = std::find(names.begin(), names.end(), request.host);
  if (names.size() < 2 || here == names.end()) return "";
  return here + 1 == names.end() ? names.front() : *(here + 1);
}

// The neighbour's server may not be there yet.
std::string run_client(const GatherContext& context, Command command) {
  ProcessResult result;
  for (int attempt = 0; attempt < 10; ++attempt) {
    result = context.system.processes.run(command, limits_of(20));
    if (result.ok() || result.timed_out) break;
    context.system.processes.run({"sleep", "1"}, limits_of(3));
  }
  return result.ok() ? result.out : "! " + last_words_of_tool("ib_write_bw", result);
}

void run_write_bandwidth(const GatherContext& context, const Port& port, Facts& facts) {
  const std::string to = next_host(context.request);
  if (to.empty()) return facts.set_unknown("ib.load.mbits", "one host only: no neighbour");
  const Command server = {"ib_write_bw",    "-d", port.device, "-i", port.port, "-F",
                          "--report_gbits", "-p", port_number, "-D", "5"};
  Command client = server;
  client.push_back(to);
  const std::vector<std::pair<ChildFunction, std::chrono::milliseconds>> both = {
      {[&] { return context.system.processes.run(server, limits_of(40)).out; }, std::chrono::seconds(45)},
      {[&] { return run_client(context, client); }, std::chrono::seconds(45)}};
  const auto results = context.system.processes.run_functions(both);
  facts.set("ib.bw.to", to);
  facts.set("ib.bw.device", port.device);
  facts.set("ib.bw.rate_mbits", port.rate_mbits);
  const auto mbits = parse_write_bandwidth(results[1].out);
  if (mbits) {
    facts.set("ib.load.mbits", *mbits);
  } else {
    facts.set_unknown("ib.load.mbits",
                      printable(trim(results[1].out.empty() ? "no answer in time" : results[1].out), 200));
  }
}

}  // namespace

void gather_gpu_stress(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  if (!files.exists("/dev/nvidiactl")) return;
  const std::size_t gpus = files.list("/proc/driver/nvidia/gpus").size();
  run_dcgm(context, facts);
  if (gpus > 0) run_nccl_tests(context, gpus, facts);
}

void gather_fabric_stress(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  const auto port = first_active_port(files);
  if (!port) return;
  if (find_in_path(context, "ib_write_bw").empty()) {
    return facts.set_unknown("ib.load.mbits", "ib_write_bw (perftest) is not installed");
  }
  run_write_bandwidth(context, *port, facts);
}

}  // namespace ddlrun::doctor
