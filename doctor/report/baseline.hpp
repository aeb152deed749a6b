// SPDX-License-Identifier: MIT
// The facts of a good run, kept, and what is different today.
#pragma once

#include "doctor/model/check.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

struct Baseline {
  std::string saved_at;                // "2026-11-21 07:10:03 UTC"
  std::map<std::string, Facts> hosts;  // stable facts only
};

// Facts that a healthy host changes by itself (load, free memory, clocks, process ids) are not kept.
bool is_stable(std::string_view fact);

Baseline make_baseline(std::span<const HostReport> hosts, std::string saved_at);

std::string render_baseline_json(const Baseline& baseline);
Baseline parse_baseline_json(std::string_view text, const std::string& file);  // Error{request}

// "BASE-01" findings: one for each fact and pair of values that changed, with the hosts; a pass where none
// has. Hosts that are not in the baseline are a skip.
std::vector<Finding> compare_with_baseline(const Baseline& baseline, std::span<const HostReport> hosts);

// The row that explains them.
const Check& baseline_check();

}  // namespace ddlrun::doctor
