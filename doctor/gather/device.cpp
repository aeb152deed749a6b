// SPDX-License-Identifier: MIT
// One gatherer for all devices at the quick level: where there are none it costs a few reads and no further
// child. What may hang (the driver's library) or waits (counters) runs in children of its own.
//   device.failed.PART        never known; why nvml, fabric-counters or device-log gave no response
#include "doctor/gather/device.hpp"

#include "base/text/error.hpp"
#include "doctor/remote/agent_protocol.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {
namespace {

std::string why_part_failed(const ProcessResult& result, std::chrono::milliseconds limit) {
  if (result.timed_out)
    return fmt::format("no answer within {} s", static_cast<double>(limit.count()) / 1000);
  if (result.signal != 0) return fmt::format("it died of signal {}", result.signal);
  return fmt::format("it ended with status {}", result.exit_status);
}

void gather_device_parts(const GatherContext& context, Facts& facts) {
  gather_gpu(context, facts);
  gather_fabric(context, facts);
  const bool has_gpu = SysrootFiles(context).exists("/dev/nvidiactl");
  const bool has_fabric = facts.number("ib.count").value_or(0) > 0;
  using std::chrono::seconds;
  std::vector<DevicePart> parts;
  if (has_gpu)
    parts.push_back({"nvml", seconds(8), gather_nvml});  // without persistence mode the driver wakes each GPU
  if (has_fabric) parts.push_back({"fabric-counters", seconds(8), gather_fabric_counters});
  if (has_gpu || has_fabric) parts.push_back({"device-log", seconds(8), gather_device_log});
  gather_parts(context, parts, facts);
}

}  // namespace

void gather_parts(const GatherContext& context, std::span<const DevicePart> parts, Facts& facts) {
  if (parts.empty()) return;
  std::vector<std::pair<ChildFunction, std::chrono::milliseconds>> functions;
  for (const DevicePart& part : parts) {
    const auto body = [&context, &part] {
      ProbeResponse response;
      part.gather(context, response.facts);
      return render_probe_response_json(response);
    };
    functions.emplace_back(body, part.limit);
  }
  const auto results = context.system.processes.run_functions(functions);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string name = "device.failed." + std::string(parts[i].name);
    try {
      if (!results[i].ok())
        throw Error(ErrorKind::request, {why_part_failed(results[i], parts[i].limit), "", "-"});
      facts.merge(parse_probe_response_json(results[i].out, std::string(parts[i].name)).facts);
    } catch (const Error& error) {
      facts.set_unknown(name, error.message().what);
    }
  }
}

std::span<const Gatherer> device_gatherers() {
  using std::chrono::seconds;
  static const Gatherer gatherers[] = {
      {"devices", Level::quick, seconds(15), gather_device_parts},
      {"cuda", Level::full, seconds(105), gather_cuda_probe},
      {"gpu-stress", Level::stress, seconds(105), gather_gpu_stress},
      {"fabric-stress", Level::stress, seconds(60), gather_fabric_stress},
  };
  return gatherers;
}

}  // namespace ddlrun::doctor
