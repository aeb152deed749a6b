// SPDX-License-Identifier: MIT
// A job as lines of text, and the way from a ddlrun.yaml to it, as `ddlrun submit` goes it.
#pragma once

#include "schedulers/job/job_spec.hpp"

#include <string>

namespace ddlrun::tests {

struct JobText {
  std::string job;     // "key: value" lines of all that is not the default, then "remark: ..." lines
  std::string errors;  // as they are printed
};
JobText read_job_text(const std::string& yaml);

// One file's bytes; fails the test where there is none.
std::string read_test_file(const std::string& path);

}  // namespace ddlrun::tests
