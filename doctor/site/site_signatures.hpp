// SPDX-License-Identifier: MIT
// The signatures of a centre and of a user: signatures.yaml in their directories of configuration.
#pragma once

#include "base/os/system.hpp"
#include "doctor/diagnose/signature.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

// The files that are there, the nearest first. None where the directories cannot be found.
std::vector<std::string> list_signature_files(System& system);

// The built-in signatures with those of all these files: of two with one id the nearest counts. A file that
// another user can change, or that is no YAML, is left out with a warning, and so is a wrong signature of a
// file: a job must not end by it.
std::shared_ptr<const SignatureSet> read_known_signatures(System& system);

}  // namespace ddlrun::diagnose
