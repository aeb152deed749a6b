// SPDX-License-Identifier: MIT
// The findings about a rankfile as one JSON document, "schema": "ddlrun.check-rankfile/1".
#pragma once

#include "topology/rankfile/rankfile_check.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::rankfile {

std::string render_findings_json(std::string_view file_name, const std::vector<RankfileFinding>& findings,
                                 bool cores_checked, int mpi_major);

}  // namespace ddlrun::rankfile
