// SPDX-License-Identifier: MIT
#include "base/text/known_hosts.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/text/known_hosts");

TEST_CASE("names of /etc/hosts and of an ssh configuration") {
  const std::vector<std::string> hosts{"localhost", "node9", "node9.cluster"};
  CHECK(parse_hosts_table("127.0.0.1 localhost\n# 10.1.1.7 node7\n10.1.1.9\t node9 node9.cluster # front\n\n",
                          9) == hosts);
  CHECK(parse_hosts_table("10.1.1.9 a b c\n", 2) == std::vector<std::string>{"a", "b"});
  CHECK(parse_ssh_hosts(
            "Host gpu1 gpu2\n  HostName 10.0.0.1\nhost *.lab !x gpu?\nMatch host y\nHost\tlast\r\n", 9) ==
        std::vector<std::string>{"gpu1", "gpu2", "last"});
}

TEST_CASE("names of known_hosts, without hashed ones and patterns") {
  CHECK(parse_known_hosts(
            "h1,10.0.0.1 ssh-rsa A\n|1|x=|y= ssh-rsa B\n[h2]:22 ssh-rsa C\n@revoked h9 ssh-rsa D\n"
            "*.lab,!h3,h4 ssh-rsa E\n#h8\n[\n\n",
            9) == std::vector<std::string>{"h1", "10.0.0.1", "h2", "h4"});
}

TEST_CASE("a misspelt name means the similar one with the same number") {
  const std::vector<std::string> known{"localhost", "h1", "h2", "node9", "node10"};
  CHECK(similar_host("h22", known) == "h2");
  CHECK(similar_host("nodo9", known) == "node9");
  for (const char* other : {"h3", "node8", "h2", "node1", "elsewhere"}) {
    CAPTURE(other);
    CHECK_FALSE(similar_host(other, known));
  }
}

TEST_SUITE_END();
