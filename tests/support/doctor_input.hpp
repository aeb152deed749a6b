// SPDX-License-Identifier: MIT
// A job with hosts and facts written by hand, as the checks of doctor/ get them.
#pragma once

#include "doctor/model/check.hpp"

#include <algorithm>
#include <deque>
#include <string>

namespace ddlrun::tests {

struct DoctorInput {
  doctor::Job job;
  doctor::Level level = doctor::Level::quick;
  doctor::HostReport driver_host{"head", {}, {}, {}};
  std::vector<doctor::HostReport> hosts;
  std::vector<std::vector<doctor::HostReport>> other_paths;

  DoctorInput() { hosts.reserve(64); }  // references from add() stay valid
  doctor::HostReport& add(const std::string& name) {
    hosts.push_back({name, {}, {}, {}});
    return hosts.back();
  }
  doctor::HostReport& host(const std::string& name) {
    return *std::find_if(hosts.begin(), hosts.end(), [&](const auto& h) { return h.host == name; });
  }
  doctor::CheckInput get() const { return {job, level, driver_host, hosts, other_paths}; }
};

}  // namespace ddlrun::tests
