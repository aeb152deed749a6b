// SPDX-License-Identifier: MIT
// Signatures from their files: signatures/*.yaml, which are part of the binary, and a user's own.
#pragma once

#include "doctor/diagnose/signature.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

// Error{request} at FILE:LINE:COLUMN where something is wrong.
SignatureSet parse_signatures(std::string_view text, const std::string& file_name);

// The built-in signatures, parsed at the first call.
std::shared_ptr<const SignatureSet> builtin_signatures();

// `base` with `added`: a signature with a known id replaces it.
SignatureSet merge_signatures(SignatureSet base, SignatureSet added);
SignatureSet without_signature(SignatureSet set, std::string_view id);

struct SignatureFile {
  const char* name;
  std::string_view text;
};
// signatures/*.yaml as they were at build time, by name.
std::vector<SignatureFile> builtin_signature_files();

}  // namespace ddlrun::diagnose
