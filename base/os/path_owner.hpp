// SPDX-License-Identifier: MIT
// Whether another user can exchange what a path leads to.
#pragma once

#include <string>

namespace ddlrun {

// Follows `path` from "/" through every directory and link, as far as it exists. "" if no other user can put
// another file at its end; else why: "every user can write to /scratch", "/tmp/x belongs to user 1004".
// Below a directory in which every user may create files (/tmp), each name must belong to this user or root.
// Elsewhere the owners of directories, and groups that may write to them, are the site's, and are trusted.
std::string find_replaceable_step(const std::string& path);

// Whether `path` leads through a directory in which every user may create files: another host may have another user's
// file at its end.
bool is_in_shared_directory(const std::string& path);

}  // namespace ddlrun
