// SPDX-License-Identifier: MIT
// Which variables of the environment hold a secret, by their names alone; values are never read.
#pragma once

#include <span>
#include <string_view>

namespace ddlrun {

// The pattern has upper-case letters, digits and _, with * for any letters: bash reads it the same way.
struct SecretRule {
  std::string_view pattern;
  bool is_secret;
};

// The first rule that fits the name in upper case decides; a name that fits none is not a secret.
std::span<const SecretRule> secret_rules();

// HF_TOKEN, db_password, AWS_SECRET_ACCESS_KEY; not TOKENIZERS_PARALLELISM, not SSH_AUTH_SOCK.
bool is_secret_name(std::string_view name);

}  // namespace ddlrun
