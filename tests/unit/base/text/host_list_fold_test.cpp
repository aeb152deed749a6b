// SPDX-License-Identifier: MIT
#include "base/text/host_list.hpp"

#include <doctest/doctest.h>

using ddlrun::expand_host_list;
using ddlrun::fold_host_list;

TEST_SUITE_BEGIN("base/text/host_list_fold");

TEST_CASE("folded host lists") {
  struct Row {
    std::vector<std::string> hosts;
    std::string folded;
  };
  const std::vector<Row> rows{
      {{}, ""},
      {{"h1"}, "h1"},
      {{"h1", "h2", "h3"}, "h[1-3]"},
      {{"h3", "h1", "h2"}, "h[1-3]"},
      {{"h1", "h3", "h4", "login"}, "h[1,3-4],login"},
      {{"node08", "node09", "node10"}, "node[08-10]"},
      {{"n0999", "n1000", "n9999", "n10000"}, "n[0999-1000,9999-10000]"},
      {{"h1", "h01", "h02"}, "h1,h[01-02]"},
      {{"login", "h1", "login", "h1"}, "login,h1"},
      {{"r1-ib", "r2-ib"}, "r[1-2]-ib"},
      {{"10.1.1.1", "10.1.1.2"}, "10.1.1.1,10.1.1.2"},
      {{"h99999999999999"}, "h99999999999999"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.folded);
    CHECK(fold_host_list(row.hosts) == row.folded);
  }
}

TEST_CASE("a folded list says what the expander reads back") {
  const auto hosts = expand_host_list("a[1-100],b[001-050],c7x");
  CHECK(expand_host_list(fold_host_list(hosts)) == hosts);
}

TEST_CASE("a long list is cut and counted") {
  std::vector<std::string> hosts;
  for (int i = 0; i < 500; ++i)
    hosts.push_back("n" + std::string(1, static_cast<char>('a' + i % 26)) + std::to_string(i) + "z" +
                    std::to_string(2 * i));
  const std::string text = fold_host_list(hosts, 100);
  CHECK(text.size() < 140);
  CHECK(text.find(" more") != std::string::npos);
}

TEST_SUITE_END();
