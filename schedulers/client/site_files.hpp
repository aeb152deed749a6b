// SPDX-License-Identifier: MIT
// The files of a centre and of the user that hold for all jobs: config.yaml, sites/NAME.yaml, templates/NAME.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/job/job_settings.hpp"
#include "templates/site_profile.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::schedulers {

// The profile of that name: of the user, of the centre, else of those that came with ddlrun; or a file.
// Error{request} if it cannot be read, or if another user can change one that was found by its name.
templates::SiteProfile load_site(System& system, const std::string& name_or_file);

// The names of all profiles, with those that came with ddlrun.
std::vector<std::string> list_sites(System& system);

// The settings of one config.yaml. A file without a key has none.
JobSettings read_configuration(System& system, const std::string& file, std::vector<Message>& errors);

// Templates of the user and the centre: NAME, or NAME.sh. Nothing where none has that name.
std::optional<std::string> find_shared_template(System& system, const std::string& name);

// Whether `path` is such a template.
bool is_shared_template(const Environment& environment, const std::string& path);

}  // namespace ddlrun::schedulers
