// SPDX-License-Identifier: MIT
// Signatures from their file: signatures.yaml, which is part of the binary, and a user's own.
#pragma once

#include "doctor/diagnose/signature.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// Error{request} at FILE:LINE:COLUMN where something is wrong.
SignatureSet parse_signatures(std::string_view text, const std::string& file_name);

// The built-in signatures, parsed at the first call.
std::shared_ptr<const SignatureSet> builtin_signatures();

// `base` with `added`: a signature with a known id replaces it.
SignatureSet merge_signatures(SignatureSet base, SignatureSet added);

// The text of signatures.yaml as it was at build time.
std::string_view builtin_signatures_text();

}  // namespace ddlrun::diagnose
