// SPDX-License-Identifier: MIT
// What a centre's profile means for a job: a layer of settings below the user's, and rules that are checked.
#pragma once

#include "schedulers/job/job_spec.hpp"
#include "templates/site_profile.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// The profile's defaults and its scheduler, each with the origin "profile NAME (FILE:LINE)"; to be laid below
// the user's. An unknown key is an error.
JobSettings profile_settings(const templates::SiteProfile& site, std::vector<Message>& errors);

// The breaches of the site's rules: keys it requires, its time limits. `settings` give the places; without
// them the messages name none.
std::vector<Message> check_against_site(const JobSpec& job, const templates::SiteProfile& site,
                                        const JobSettings& settings = {});
// One of these errors that only asks for a key which the job does not have.
bool asks_for_key(const Message& error);
// A working directory that is not below those of the site's jobs.
std::optional<Message> check_submit_directory(const templates::SiteProfile& site, std::string_view workdir,
                                              const JobSettings& settings = {});

}  // namespace ddlrun::schedulers
