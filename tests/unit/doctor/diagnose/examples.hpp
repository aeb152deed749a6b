// SPDX-License-Identifier: MIT
// tests/data/diagnose/*.txt: for each signature a log that shows it ("=== A1 yes") and one that is much like
// it and does not ("=== A1 no").
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <string>
#include <vector>

namespace ddlrun::tests {

struct Example {
  std::string id;
  bool positive = true;
  diagnose::RunStatus end;  // "status=137 from=mpirun" behind "yes"
  std::string host;         // "host=h2": where the diagnosis must place it
  int rank = -1;            // "rank=3"
  std::string file;
  int line = 0;
  std::string text;
};

// In the order of the files. Throws std::runtime_error where a header is malformed.
std::vector<Example> read_examples();

// The diagnosis of one log.
diagnose::Diagnosis diagnose_text(const std::string& text, const diagnose::RunStatus& end = {});

}  // namespace ddlrun::tests
