// SPDX-License-Identifier: MIT
#include "base/text/secret_name.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <array>

namespace ddlrun {

namespace {

constexpr std::array secret_name_rules = std::to_array<SecretRule>({
    // A place where a secret lies: DDL_TOKEN_FILE, HF_TOKEN_PATH.
    {"*_FILE", false},
    {"*_PATH", false},
    {"*_DIR", false},
    {"*SECRET*", true},
    {"*PASSW*", true},  // PASSWORD, PASSWD
    {"*PASSPHRASE*", true},
    {"*_PASS", true},
    {"SSHPASS", true},
    {"*CREDENTIAL*", true},
    {"*TOKEN", true},
    {"*TOKEN_*", true},
    {"*_JWT", true},  // SLURM_JWT, as `scontrol token` of Slurm 22.05 prints it
    {"*_AUTH", true},
    {"*API_KEY*", true},
    {"*APIKEY*", true},
    {"*ACCESS_KEY*", true},
    {"*PRIVATE_KEY*", true},
    // Names of machine learning and of public keys that fit a rule below.
    {"*TOKENIZ*", false},
    {"*MAX*TOKENS*", false},
    {"*NUM*TOKENS*", false},
    {"*TOKENS_PER_*", false},
    {"*PUBLIC_KEY", false},
    // Working directories: the variable of --pwd (Apptainer 1.1, Singularity 3).
    {"APPTAINER_*PWD", false},
    {"SINGULARITY_*PWD", false},
    // Variables of Amazon's command line, SDKs and AWS Batch that hold no secret.
    {"AWS_*REGION*", false},
    {"AWS_*PROFILE", false},
    {"AWS_*OUTPUT", false},
    {"AWS_*ENDPOINT*", false},
    {"AWS_BATCH_*", false},
    {"AWS_CA_BUNDLE", false},
    {"AWS_EXECUTION_ENV", false},
    {"*TOKEN*", true},
    {"*_PWD", true},
    {"*_KEY", true},
    {"AWS_*", true},
});

}  // namespace

std::span<const SecretRule> secret_rules() { return secret_name_rules; }

bool is_secret_name(std::string_view name) {
  const std::string upper = to_upper(name);
  const auto rule =
      std::find_if(secret_name_rules.begin(), secret_name_rules.end(),
                   [&](const SecretRule& each) { return matches_pattern(each.pattern, upper); });
  return rule != secret_name_rules.end() && rule->is_secret;
}

}  // namespace ddlrun
