// SPDX-License-Identifier: MIT
// Signatures from their files: signatures/*.yaml, which are part of the binary, and a user's own.
#pragma once

#include "base/text/error.hpp"
#include "doctor/diagnose/signature.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

constexpr std::string_view signatures_schema = "ddlrun.signatures/1";

// Of a file of signatures.
constexpr std::uint64_t max_signature_bytes = 1u << 20;

// Keys whose value is true or false; docs/diagnose.md has their meanings.
constexpr auto signature_flags = std::to_array<std::pair<std::string_view, bool Signature::*>>(
    {{"may_follow", &Signature::may_follow},
     {"unless_rank_ended", &Signature::unless_rank_ended},
     {"unless_rank_failed", &Signature::unless_rank_failed},
     {"unless_peer_ended", &Signature::unless_peer_ended},
     {"reports_peer_end", &Signature::reports_peer_end},
     {"unless_run_continues", &Signature::unless_run_continues},
     {"shows_stack", &Signature::shows_stack},
     {"fails_alone", &Signature::fails_alone},
     {"ends_use", &Signature::ends_use},
     {"harmless_alone", &Signature::harmless_alone},
     {"raw_status", &Signature::raw_status},
     {"last_counts", &Signature::last_counts}});

enum class WrongSignature { refused, left_out };

// Error{request} at FILE:LINE:COLUMN where something is wrong; a wrong signature that is `left_out` is one of
// the `warnings` instead. A pattern with the syntax of a regular expression is one of them too.
SignatureSet parse_signatures(std::string_view text, const std::string& file_name,
                              std::vector<Message>* warnings = nullptr,
                              WrongSignature wrong = WrongSignature::refused);

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
