// SPDX-License-Identifier: MIT
// The protocol of the driver host and an agent over one connection. If the host lacks this build, the remote
// shell prints "wanted" and receives it. The agent prints "ready", reads the request to the end of its stdin,
// and prints "answer" and one line of JSON. Shell start-up files may print anything before that.
#pragma once

#include "doctor/model/check.hpp"
#include "doctor/model/probe_request.hpp"
#include "doctor/remote/fan_out.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

constexpr std::string_view wanted_line = "ddlrun-agent wanted";
constexpr std::string_view response_line = "ddlrun-agent answer";
constexpr std::size_t max_response_bytes = 1u << 20;
constexpr std::size_t max_request_bytes = 4u << 20;
constexpr int other_build_status = 9;  // `ddlrun agent --id` of another build

// What a relay does beside its own request: `hosts` get the same request, each under its own name.
struct RelayedHost {
  std::string name;
  std::uint32_t ranks = 0;
};
struct RelayRequest : LevelOptions {
  std::vector<RelayedHost> hosts;
  std::string agent_path;  // where this build lies on the driver host, and perhaps on the others
};

std::string ready_line(std::string_view build_id);

// sh: runs $0 as the agent of build $1, or takes the files behind $2 (the loader there): name, size, ...
std::string agent_script();

// What an agent found.
struct ProbeResponse {
  Facts facts;
  std::map<std::string, std::string> failed_gatherers;
  std::int64_t ready_us = 0;  // its clock when it printed "ready", microseconds since 1970
  std::int64_t asked_us = 0;  // its clock when it had read the request
};

std::string render_probe_request_json(const ProbeRequest& request,
                                      const RelayRequest& relay = {});  // one line
ProbeRequest parse_probe_request_json(std::string_view text,
                                      RelayRequest* relay = nullptr);   // Error{request} on anything odd
std::string render_probe_response_json(const ProbeResponse& response);  // one line
ProbeResponse parse_probe_response_json(std::string_view text, const std::string& host);

// A report of a host that a relay asked. Facts that share `base`, the relay's own, are sent as the
// difference.
std::string render_relayed_report_json(const HostReport& report,
                                       const std::shared_ptr<const FactMap>& base);  // one line
HostReport parse_relayed_report_json(std::string_view text, const std::shared_ptr<const FactMap>& base,
                                     const std::string& relay);

}  // namespace ddlrun::doctor
