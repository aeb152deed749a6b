// SPDX-License-Identifier: MIT
// The protocol of the driver host and an agent over one connection. If the host lacks this build, the remote
// shell prints "wanted" and receives it. The agent prints "ready", reads the request to the end of its stdin,
// and prints "answer" and one line of JSON. Shell start-up files may print anything before that.
#pragma once

#include "doctor/model/check.hpp"
#include "doctor/model/probe_request.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

constexpr std::string_view wanted_line = "ddlrun-agent wanted";
constexpr std::string_view response_line = "ddlrun-agent answer";
constexpr std::size_t max_response_bytes = 1u << 20;
constexpr std::size_t max_request_bytes = 4u << 20;
constexpr int other_build_status = 9;  // `ddlrun agent --id` of another build

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

std::string render_probe_request_json(const ProbeRequest& request);     // one line
ProbeRequest parse_probe_request_json(std::string_view text);           // Error{request} on anything odd
std::string render_probe_response_json(const ProbeResponse& response);  // one line
ProbeResponse parse_probe_response_json(std::string_view text, const std::string& host);

}  // namespace ddlrun::doctor
