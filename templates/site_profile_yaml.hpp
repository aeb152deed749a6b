// SPDX-License-Identifier: MIT
// The YAML form of a site profile; templates/README.md shows one.
#pragma once

#include "templates/site_profile.hpp"

#include <string>
#include <string_view>

namespace ddlrun::templates {

// `name` unless the text has its own. Error{request} with FILE:LINE:COLUMN for the first error.
SiteProfile parse_profile(std::string_view text, const std::string& name, const std::string& file);

}  // namespace ddlrun::templates
