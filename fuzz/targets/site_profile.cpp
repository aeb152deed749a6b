// SPDX-License-Identifier: MIT
// Profiles of sites: a refusal is a message, and what is taken gives settings.
#include "templates/site_profile.hpp"

#include "fuzz/fuzz_target.hpp"
#include "schedulers/job/site_rules.hpp"

using namespace ddlrun;

DDLRUN_FUZZ_TARGET(site_profile) {
  const auto site = fuzz::accepted([&] {
    return templates::load_profile("./site.yaml", [&](const std::string&) { return std::string(input); });
  });
  if (!site) return;
  std::vector<Message> errors;
  schedulers::profile_settings(*site, errors);
  for (const Message& error : errors) fuzz::require_message(error);
}
