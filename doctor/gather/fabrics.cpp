// SPDX-License-Identifier: MIT
// Omni-Path and EFA, and how error counters move while nothing runs.
//   opa.nodes                 one a line: "hfi1_0 rw" for /dev/hfi1_0
//   opa.psm2                  path of libpsm2.so.2; not known where there is none
//   efa.devices               RDMA devices with the driver efa, one a line
//   efa.provider              "listed", "not listed", or why fi_info reported nothing
//   ib.delta.seconds          between the two readings of the counters: 1, and 5 at --full
//   ib.D.port.P.delta.NAME    how much each grew meanwhile
#include "base/text/text.hpp"
#include "doctor/gather/device.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/model/link_counters.hpp"

#include <fmt/format.h>

#include <map>

namespace ddlrun::doctor {
namespace {

std::string find_psm2(const GatherContext& context, const SysrootFiles& files) {
  const std::string path = job_variable(context, "LD_LIBRARY_PATH");
  for (const std::string_view dir : split(path, ':')) {
    const std::string library = std::string(dir) + "/libpsm2.so.2";
    if (dir.starts_with('/') && files.exists(library)) return library;
  }
  for (const char* dir : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    const std::string library = std::string(dir) + "/libpsm2.so.2";
    if (files.exists(library)) return library;
  }
  return "";
}

void gather_omni_path(const GatherContext& context, const SysrootFiles& files,
                      const std::vector<std::string>& devices, Facts& facts) {
  std::vector<std::string> nodes;
  for (const std::string& device : devices) {
    if (device.starts_with("hfi1_"))
      nodes.push_back(device + " " + std::string(files.access("/dev/" + device)));
  }
  facts.set_list("opa.nodes", nodes);
  if (nodes.empty()) return;
  const std::string library = find_psm2(context, files);
  if (library.empty()) {
    facts.set_unknown("opa.psm2", "no libpsm2.so.2 in the library directories");
  } else {
    facts.set("opa.psm2", library);
  }
}

std::string ask_fi_info(const GatherContext& context) {
  std::string program = find_in_path(context, "fi_info");
  if (program.empty() && SysrootFiles(context).exists("/opt/amazon/efa/bin/fi_info")) {
    program = "/opt/amazon/efa/bin/fi_info";
  }
  if (program.empty()) return "no fi_info on PATH";
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(3);
  limits.output_bytes = 64 * 1024;
  const ProcessResult result = context.system.processes.run({program, "-p", "efa"}, limits);
  if (!result.start_error.empty()) return "fi_info: " + result.start_error;
  if (result.timed_out) return "fi_info gave no answer within 3 s";
  return result.ok() && result.out.find("provider: efa") != std::string::npos ? "listed" : "not listed";
}

void gather_efa(const GatherContext& context, const SysrootFiles& files,
                const std::vector<std::string>& devices, Facts& facts) {
  std::vector<std::string> found;
  for (const std::string& device : devices) {
    const auto driver = files.link("/sys/class/infiniband/" + device + "/device/driver");
    if (driver && driver->ends_with("/efa")) found.push_back(device);
  }
  facts.set_list("efa.devices", found);
  const bool asked = job_variable(context, "FI_PROVIDER").find("efa") != std::string::npos;
  if (!found.empty() || asked) facts.set("efa.provider", ask_fi_info(context));
}

using Readings = std::map<std::string, std::uint64_t>;

Readings read_counters(const SysrootFiles& files, const std::vector<std::string>& devices) {
  Readings readings;
  for (const std::string& device : devices) {
    const std::string dir = "/sys/class/infiniband/" + device + "/ports";
    for (const std::string& port : files.list(dir)) {
      for (const char* counter : link_counters) {
        const auto value = files.number(fmt::format("{}/{}/counters/{}", dir, port, counter));
        if (value) readings[fmt::format("ib.{}.port.{}.delta.{}", device, port, counter)] = *value;
      }
    }
  }
  return readings;
}

}  // namespace

void gather_fabrics(const GatherContext& context, const SysrootFiles& files, Facts& facts) {
  const auto devices = find_rdma_devices(files);
  gather_efa(context, files, devices, facts);
  if (!devices.empty()) gather_omni_path(context, files, devices, facts);
}

void gather_fabric_counters(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  const auto devices = find_rdma_devices(files);
  const Readings before = devices.empty() ? Readings() : read_counters(files, devices);
  if (before.empty()) return;
  const unsigned seconds = context.request.level == Level::quick ? 1 : 5;
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(seconds + 2);
  const auto waited = context.system.processes.run({"sleep", std::to_string(seconds)}, limits);
  if (!waited.ok()) return;
  for (const auto& [name, value] : read_counters(files, devices)) {
    const auto at = before.find(name);
    if (at != before.end())
      facts.set(name, value >= at->second ? value - at->second : 0);  // a reset in between
  }
  facts.set("ib.delta.seconds", seconds);
}

}  // namespace ddlrun::doctor
