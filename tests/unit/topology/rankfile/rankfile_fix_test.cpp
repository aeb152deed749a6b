// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_fix.hpp"

#include "tests/support/mutate.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::topology;
using namespace ddlrun::rankfile;

TEST_SUITE_BEGIN("topology/rankfile/rankfile_fix");

TEST_CASE("what can be decided is put right, and stays so") {
  struct Row {
    const char* text;
    const char* fixed;
  };
  const Row rows[] = {
      {"rank 0=a slot=0:0\r\nrank 1=a slot=0:1\r\n", "rank 0=a slot=0:0\nrank 1=a slot=0:1\n"},
      {"# x\r\n\r\nrank 0=a slot=0:0\r\n", "# x\n\nrank 0=a slot=0:0\n"},
      {"\xEF\xBB\xBF# x\nrank 0=a slot=0:0\n", "# x\nrank 0=a slot=0:0\n"},
      // as pasted from the web page: the padding must come out as it was
      {"rank 0=a\xC2\xA0\xC2\xA0 \xC2\xA0slot=0:0\n", "rank 0=a    slot=0:0\n"},
      {"\xC2\xA0\nrank 0=a slot=0:0\n", "\nrank 0=a slot=0:0\n"},
      {"rank 0=\"a\" slot=\"0:0\"\n", "rank 0=a slot=0:0\n"},
      {"Rank 0=a SLOT=0:0\n", "rank 0=a slot=0:0\n"},
      {"rank 0=a slots=0:0\n", "rank 0=a slot=0:0\n"},
      {"rank 0=a slot=0:0", "rank 0=a slot=0:0\n"},
      {"rank 0=a slot=0:0\n# end", "rank 0=a slot=0:0\n# end\n"},
      {"rank 0=a slot=0:0; 1:0 # b\n", "rank 0=a slot=0:0;1:0 # b\n"},
      {"rank 0=a slot=0:0 rank 1=a slot=0:1\n", "rank 0=a slot=0:0\nrank 1=a slot=0:1\n"},
      {"# x\nrank 1=a slot=0:1\nrank 0=a slot=0:0\n", "# x\nrank 0=a slot=0:0\nrank 1=a slot=0:1\n"},
      {"rank 0=a slot=0:0\nrank 0=a  slot=0:0\n", "rank 0=a slot=0:0\n"},
      {"rank 0=a slot=1:0,2\n", "rank 0=a slot=1:0;1:2\n"},
      {"rank 0=a slot=0:3-1\n", "rank 0=a slot=0:1-3\n"},
      {"rank 0=1a.x.org slot=0:0\n", "rank 0=1a slot=0:0\n"},
      {"rank 0=a slot=0:0;0:1;0:2;0:3;0:4;0:5;0:6;0:7;0:8;0:9;0:10;0:11;0:12;0:13\n",
       "rank 0=a slot=0:0-13\n"},
      {"rank 0=a /* why */ slot=0:0\n", "rank 0=a slot=0:0\n"},
      {"rank0=a slot=0:0\n", "rank 0=a slot=0:0\n"},
      {"rank 0=a slot=0:0-1:3\n", "rank 0=a slot=0:0-1;0:3\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const FixedRankfile fixed = fix_rankfile(row.text, {});
    CHECK(fixed.text == row.fixed);
    CHECK_FALSE(needs_attention(fixed.remaining));
    CHECK(fix_rankfile(fixed.text, {}).text == fixed.text);
  }
}

TEST_CASE("what cannot be decided stays an error") {
  const char* texts[] = {
      "rank 0=a slot=x\n",
      "rank 0=a slot=*\n",
      "rank 0=a\n",
      "rank 0=a slot=0:0\nrank 2=a slot=0:1\n",
      "rank 0=a slot=0:0\nrank 0=b slot=0:1\n",
      "rank 0=a.x slot=0:0\nrank 1=a.y slot=0:0\n",
      "rank 0=a_b slot=0:0\n",
      "rank 4294967296=a slot=0:0\n",
      "rank 0=a slot=0:0 fast\n",
      "#topology = assumed 2x10\nrank 0=a slot=0:0\n",
      "/* rank 0=a slot=0:0\n",
  };
  for (const char* text : texts) {
    CAPTURE(text);
    CHECK(has_errors(fix_rankfile(text, {}).remaining));
  }
}

// DDLRUN_MUTATIONS=100000 for a long run. Nothing may crash, everything said has a fact and a remedy, and
// fixing is idempotent.
TEST_CASE("mutated rankfiles") {
  const std::string seeds[] = {
      "#by ddlrun\n#dims = 2x2x1\n#host = h[1-2]\n\nrank 0=h1           slot=0:0-4\n"
      "rank 2=h1           slot=1:0-4\n\nrank 1=h2           slot=0:0-4\nrank 3=h2           "
      "slot=1:0-4\n\n\n",
      "// a\n/* b\n */ rank 0=10.1.1.1 slot=0-3,7\nrank 1=joe@x.y.org slots = S0 ; 1:0,2 # c\nRank 2=\"q\" "
      "slot=0:*\r\n",
  };
  const MachineTopology machine = regular_machine(2, 10, 2, "test");
  CheckContext context;
  context.machine_of = [&machine](std::string_view) { return &machine; };
  context.allocation = {"h1", "h2"};
  const std::uint64_t rounds = tests::mutation_rounds(20'000);
  for (std::uint64_t number = 0; number < rounds; ++number) {
    const std::string text = tests::mutate(seeds[number % 2], number);
    context.mpi_major = number % 4 < 2 ? 4 : 5;
    const auto findings = check_rankfile(text, context);
    for (const RankfileFinding& finding : findings) {
      if (finding.what.empty() || finding.hint.empty()) {
        CAPTURE(text);
        FAIL("no fact or no remedy: " << finding.id);
      }
    }
    const FixedRankfile fixed = fix_rankfile(text, context);
    if (has_errors(fixed.remaining)) continue;
    const FixedRankfile again = fix_rankfile(fixed.text, context);
    if (again.text != fixed.text) {
      CAPTURE(text);
      CAPTURE(fixed.text);
      FAIL("fixing is not idempotent");
    }
  }
}

TEST_SUITE_END();
