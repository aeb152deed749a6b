// SPDX-License-Identifier: MIT
#include "base/text/host_list.hpp"

#include "base/text/error.hpp"
#include "tests/support/mutate.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

using namespace ddlrun;
using Names = std::vector<std::string>;

namespace {

// The most memory that this process ever had.
long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_SUITE_BEGIN("base/text/host_list");

// Expected values as `scontrol show hostnames` and clustershell's `nodeset -e` give them.
TEST_CASE("host lists expand as schedulers expand them") {
  struct Row {
    std::string_view text;
    Names want;
  };
  const Row rows[] = {
      {"h1", {"h1"}},
      {"h1,h2", {"h1", "h2"}},
      {"node[1-3]", {"node1", "node2", "node3"}},
      {"node[01-04,7]-ib", {"node01-ib", "node02-ib", "node03-ib", "node04-ib", "node7-ib"}},
      {"n[9-11]", {"n9", "n10", "n11"}},
      {"n[09-11]", {"n09", "n10", "n11"}},
      {"r[1-2]n[1-2]", {"r1n1", "r1n2", "r2n1", "r2n2"}},
      {"a,b[1-2],c.example.org", {"a", "b1", "b2", "c.example.org"}},
      {"10.1.1.[1-2]", {"10.1.1.1", "10.1.1.2"}},
      {"h2,h1,h2", {"h2", "h1", "h2"}},
      {"n[00]", {"n00"}},
      {"n[0]", {"n0"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(expand_host_list(row.text) == row.want);
  }
}

TEST_CASE("bad host lists are refused with place and remedy") {
  for (const char* bad : {"",          ",",
                          "h1,",       ",h1",
                          "h1,,h2",    "n[1-",
                          "n]1",       "n[3-1]",
                          "n[a-b]",    "n[1-2]m[1-2]k[1-2]",
                          "n[]",       "n[1,]",
                          "h 1",       "-oProxyCommand=x",
                          "a;b",       "$(x)",
                          "h1\nh2",    "n[-1]",
                          "n[1-2-3]",  "user@host",
                          "h\xc2\xa0", "n[[1]]"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(expand_host_list(bad), Error);
  }
}

TEST_CASE("a user before a host belongs into ssh's configuration; the remedy has it") {
  const auto message_of = [](const auto& parse) {
    try {
      parse();
    } catch (const Error& error) {
      return error.message();
    }
    return Message{};
  };
  const Message typed = message_of([] { expand_host_list("h0,ann@h1,ann@node[01-02],bob@h4"); });
  CHECK(typed.what == "'ann@h1' has a user: write the host alone");
  CHECK(typed.hint ==
        "printf '%s\\n' 'Host h1 node01 node02' '  User ann' >> ~/.ssh/config   # then: h1,node[01-02]");
  const Message file = message_of([] { parse_hostfile("h0\nann@h1 slots=2\nann@h2:4\n", "hosts"); });
  CHECK(file.where == "hosts:2");
  CHECK(file.hint == "printf '%s\\n' 'Host h1 h2' '  User ann' >> ~/.ssh/config   # then: h[1-2]");
  const Message quoted = message_of([] { expand_host_list("$(x)@h1"); });
  CHECK(quoted.hint == "printf '%s\\n' 'Host h1' '  User $(x)' >> ~/.ssh/config   # then: h1");
  for (const char* bad : {"@h1", "ann@", "ann@h 1", "ann@-x"}) {
    CAPTURE(bad);
    CHECK(message_of([&] { expand_host_list(bad); }).what.find("is not a host name") != std::string::npos);
  }
}

TEST_CASE("no expansion begins before its size is known") {
  const long before = peak_kilobytes();
  for (const char* bomb :
       {"node[1-999999999]", "a[1-65536]b[1-65536]", "n[0-9999999999999999999]", "n[1-9223372036854775807]",
        "a[1-4294967296]b[1-4294967296]", "n[9999999999999999999999]", "a[1-1048576],b"}) {
    CAPTURE(bomb);
    CHECK_THROWS_AS(expand_host_list(bomb), Error);
  }
  CHECK(peak_kilobytes() - before < 1'000'000);  // the largest list there may be takes 0.1 million
  CHECK(expand_host_list("n[1-1048576]").size() == 1048576);
}

TEST_CASE("hostfiles of all dialects fold to the same names") {
  const Names want{"h1", "h2"};
  CHECK(parse_hostfile("h1 slots=4\nh2 slots=4\n", "f") == want);
  CHECK(parse_hostfile("h1:4\nh2:4\n", "f") == want);
  CHECK(parse_hostfile("h1\nh1\nh2\nh2\n", "f") == want);  // $PBS_NODEFILE: a line a slot
  CHECK(parse_hostfile("# a comment\n\n  h1 max_slots=4 # x\r\nh2", "f") == want);
  CHECK_THROWS_AS(parse_hostfile("h1 h2\n", "f"), Error);  // the second would be lost
  CHECK(parse_hostfile("h1 slots = 4\nh2\tslots=2 max_slots=4\n", "f") == want);
  CHECK(parse_hostfile("", "f").empty());
  try {
    parse_hostfile("h1\nh2 \n$(x)\n", "hosts");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.message().where == "hosts:3");
  }
}

TEST_CASE("mutated host lists never crash, and every refusal has a remedy") {
  const std::vector<std::string> seeds{"node[01-04,7]-ib", "h1,h2,h3", "a[1-2]b[3-4],c", "10.0.0.[1-9]"};
  const std::uint64_t rounds = tests::mutation_rounds(20'000);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::string text = tests::mutate(seeds[i % seeds.size()], i);
    try {
      for (const std::string& name : expand_host_list(text, 4096)) CHECK(is_host_name(name));
    } catch (const Error& error) {
      ++refused;
      CHECK_FALSE(error.message().where.empty());
    }
  }
  CHECK(refused > rounds / 10);
  CHECK(refused < rounds);
}

TEST_CASE("slots of a hostfile: in Open MPI's and in MPICH's form, of all hosts or of none") {
  struct Row {
    const char* text;
    std::vector<std::uint32_t> slots;
  };
  const Row rows[] = {
      {"h1 slots=4\nh2 slots=2 max_slots=4\n", {4, 2}},
      {"# two hosts\n\nh1:4\nh2:8 # eight\n", {4, 8}},
      {"h1 slots=4\nh2\n", {4, 0}},
      {"h1 slots=four\nh2 slots=2\n", {}},
      {"h1 slots=0\n", {}},
      {"h1\nh1\nh2\nh2\n", {}},
      {"h1 slots=2\nh1 slots=2\n", {}},
      {"", {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(parse_hostfile_slots(row.text) == row.slots);
  }
}

TEST_SUITE_END();
