// SPDX-License-Identifier: MIT
// A diagnosis and the signatures as JSON documents for programs.
#pragma once

#include "base/text/error.hpp"
#include "doctor/diagnose/diagnosis.hpp"

#include <string>

namespace ddlrun::diagnose {

// Schema "ddlrun.diagnose/1"; ends with a newline. `error`: why no diagnosis was made.
std::string render_diagnosis_json(const Diagnosis& diagnosis, const Message* error = nullptr);

// Schema "ddlrun.signatures/1": every signature in full.
std::string render_signatures_json(const std::vector<const Signature*>& signatures);

}  // namespace ddlrun::diagnose
