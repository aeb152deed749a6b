// SPDX-License-Identifier: MIT
// The failures in the report of doctor that a job's log contains: their checks, and the remedy of the first.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ddlrun::schedulers {

struct DoctorWords {
  std::string failures;   // "LIM-01 locked memory, SW-01 the program on every host"; "" without one
  std::string remedy;     // of the first: "chmod 1777 /tmp   # on node2, as root"
  bool may_go_on = true;  // false: a program or a library is missing, and --doctor warn does not help
};

// `log` ends below the report; of several reports the last counts.
DoctorWords find_doctor_words(std::span<const std::string_view> log);

}  // namespace ddlrun::schedulers
