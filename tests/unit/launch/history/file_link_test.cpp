// SPDX-License-Identifier: MIT
#include "launch/history/file_link.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("launch/history/file_link");

TEST_CASE("files as links") {
  using ddlrun::launch::render_file_link;
  CHECK(render_file_link("/a/b-c_1.json") == "/a/b-c_1.json");
  CHECK(render_file_link("/a b/\"><x#?%") == "/a%20b/%22%3E%3Cx%23%3F%25");
  CHECK(render_file_link("javascript:x") == "javascript%3Ax");
}

TEST_SUITE_END();
