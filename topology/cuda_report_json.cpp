// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/utf8.hpp"
#include "topology/cuda_report.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::topology {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const CudaDevice& device) {
  return {{"pci_bus_id", device.pci_bus_id},
          {"name", device.name},
          {"uuid", device.uuid},
          {"memory_bytes", device.memory_bytes}};
}

Json to_json(const CudaLink& link) {
  return {{"peer_access", link.peer_access},
          {"native_atomics", link.native_atomics},
          {"performance_rank", link.performance_rank}};
}

CudaReport from_json(const Json& json) {
  CudaReport report{json.at("runtime_version"), json.at("driver_version"), json.at("nccl_version"), {}, {}};
  for (const Json& device : json.at("devices")) {
    report.devices.push_back(
        {device.at("pci_bus_id"), device.at("name"), device.at("uuid"), device.at("memory_bytes")});
  }
  for (const Json& row : json.at("links")) {
    std::vector<CudaLink> links;
    for (const Json& link : row) {
      links.push_back({link.at("peer_access"), link.at("native_atomics"), link.at("performance_rank")});
    }
    if (links.size() != report.devices.size()) throw std::out_of_range("links");
    report.links.push_back(std::move(links));
  }
  if (report.links.size() != report.devices.size()) throw std::out_of_range("links");
  return report;
}

}  // namespace

std::string render_cuda_json(const CudaReport& report) {
  Json devices = Json::array(), links = Json::array();
  for (const CudaDevice& device : report.devices) devices.push_back(to_json(device));
  for (const auto& row : report.links) {
    Json entries = Json::array();
    for (const CudaLink& link : row) entries.push_back(to_json(link));
    links.push_back(std::move(entries));
  }
  const Json document = {{"schema", "ddlrun.cuda/1"},
                         {"runtime_version", report.runtime_version},
                         {"driver_version", report.driver_version},
                         {"nccl_version", report.nccl_version},
                         {"devices", devices},
                         {"links", links}};
  return escape_json(document.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

CudaReport parse_cuda_json(std::string_view text, const std::string& where) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") == "ddlrun.cuda/1") return from_json(json);
  } catch (const std::exception&) {  // the reader is our own: the wrong member is of no use to a user
  }
  throw Error(ErrorKind::request, {"this is not a ddlrun.cuda/1 document", where, "ddlrun topo --cuda"});
}

}  // namespace ddlrun::topology
