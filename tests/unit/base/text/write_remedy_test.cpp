// SPDX-License-Identifier: MIT
#include "base/text/write_remedy.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/text/write_remedy");

TEST_CASE("each reason for which the system refuses to write has a remedy of its own") {
  struct Row {
    int code;
    std::string remedy;
  };
  for (const auto& [code, remedy] :
       {Row{EFBIG, "ulimit -f unlimited "}, Row{EDQUOT, "quota -s; df -h '/a b' "},
        Row{ENOSPC, "df -h '/a b'; df -i '/a b' "}, Row{EROFS, "findmnt -T '/a b' "},
        Row{EACCES, "ls -ld '/a b' '/a b/c'; id "}, Row{EPERM, "ls -ld '/a b' '/a b/c'; id "},
        Row{EISDIR, "ls -ld '/a b/c' "}, Row{ENOENT, "mkdir -p '/a b'"}, Row{EIO, "df -h '/a b'; "}}) {
    CAPTURE(code);
    CHECK(write_remedy(code, "/a b/c").starts_with(remedy));
  }
  CHECK(write_remedy(ENOSPC, "c").starts_with("df -h .; "));
}

TEST_SUITE_END();
