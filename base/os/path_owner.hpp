// SPDX-License-Identifier: MIT
// Whether another user can exchange what a path leads to.
#pragma once

#include <string>

namespace ddlrun {

// Follows `path` from "/" through every directory and link, as far as it exists. "" if no other user can put
// another file, or other bytes, at its end; else why: "every user can write to /scratch", "/tmp/x belongs to
// user 1004". Below a directory in which every user may create files (/tmp), each name must belong to this
// user or root. Elsewhere the owners of directories, and groups that may write to them, are the site's, and
// are trusted.
std::string find_replaceable_step(const std::string& path);

// "" if only this user, root and the owner of this program (who could change the program as well) can
// change the file at `path`; else why not: "it belongs to user 1004". Missing files are judged as by
// find_replaceable_step().
std::string find_foreign_writer(const std::string& path);

// Whether `path` leads through a directory in which every user may create files: another host may have
// another user's file at its end.
bool is_in_shared_directory(const std::string& path);

}  // namespace ddlrun
