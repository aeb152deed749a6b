// SPDX-License-Identifier: MIT
#include "topology/affinity/kmp_affinity.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::affinity;

TEST_SUITE_BEGIN("topology/affinity/kmp_affinity");

// What LLVM's OpenMP runtime 14 itself said about each (KMP_WARNINGS=1 on a 2-core machine): nothing, or a
// warning that it ignores a part. Warnings about levels that the machine lacks do not count.
TEST_CASE("KMP_AFFINITY is well formed where the runtime says nothing") {
  struct Row {
    const char* text;
    bool well_formed;
  };
  for (const Row& row : {Row{"granularity=fine,compact,1,0", true},
                         Row{"verbose,granularity=fine,compact=1", false},
                         Row{"compact=1", false},
                         Row{"compact,1,0,3", false},
                         Row{"compct", false},
                         Row{"granularity=fine", true},
                         Row{"scatter", true},
                         Row{"balanced", true},
                         Row{"explicit", false},
                         Row{"granularity=fine,proclist=[0,1],explicit", true},
                         Row{"proclist=[0-1],explicit", true},
                         Row{"compact,scatter", false},
                         Row{"granularity=bogus,compact", false},
                         Row{"1,compact", true},
                         Row{"none", true},
                         Row{"disabled", true},
                         Row{"logical", true},
                         Row{"physical", true},
                         Row{"respect,compact", true},
                         Row{"Compact,1", true},
                         Row{" compact , 1 , 0", true},
                         Row{"compact,,1", false},
                         Row{"compact,1,a", false},
                         Row{"tile,compact", false},
                         Row{"granularity=tile,compact", true},
                         Row{"granularity=tid,compact", false},
                         Row{"granularity=numa_domain,compact", true},
                         Row{"granularity=thread,compact", true},
                         Row{"granularity=ll_cache,compact", true},
                         Row{"gran=fine,compact", true},
                         Row{"verbose", true},
                         Row{"compact 1", false},
                         Row{"compact:1", false},
                         Row{"granularity:fine,compact", false},
                         Row{"proclist={0,1},explicit", false},
                         Row{"proclist=0,explicit", false},
                         Row{"initial,compact", false},
                         Row{"none,1", false},
                         Row{"noduplicates,compact", true},
                         Row{"compact,-1,0", false}}) {
    CAPTURE(row.text);
    const KmpAffinity parsed = parse_kmp_affinity(row.text);
    CAPTURE(parsed.problem);
    CHECK(parsed.problem.empty() == row.well_formed);
  }
  const KmpAffinity parsed = parse_kmp_affinity("granularity=fine,compact,1,0");
  CHECK(parsed.type == "compact");
  CHECK(parsed.granularity == "fine");
  CHECK(parsed.permute == 1u);
  CHECK(parsed.offset == 0u);
}

TEST_SUITE_END();
