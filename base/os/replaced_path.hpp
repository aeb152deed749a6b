// SPDX-License-Identifier: MIT
// Where a file that is to be replaced as a whole really lies, and whether it may be replaced at all.
#pragma once

#include <string>

struct stat;

namespace ddlrun {

// What `path` leads to in the end, also if that is not there yet.
std::string follow_links(std::string path);

// The stream of ours (stdout, stderr) that goes to the file of this stat, else -1: it has its own place
// there, and would keep a file that is replaced.
int find_own_stream(const struct stat& status);

}  // namespace ddlrun
