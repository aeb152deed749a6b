// SPDX-License-Identifier: MIT
#include "man/installed_links.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::man;

TEST_SUITE_BEGIN("man/installed_links");

namespace {

const InstalledTree tree{{"README.md", "docs/jobs.md", "docs/howto/hang.md", "examples/jobs/README.md"},
                         "share/doc/ddlrun",
                         "share/ddlrun"};

}  // namespace

TEST_CASE("dots in a path") {
  CHECK(normal_path("docs/howto/../../examples/./jobs") == "examples/jobs");
  CHECK(normal_path("/README.md") == "README.md");
  CHECK(normal_path("docs/../../x") == "../x");
}

TEST_CASE("links fit the installed places") {
  CHECK(fit_links("see [jobs](../jobs.md#exit-status), [x](../../examples/jobs/README.md)\n",
                  "docs/howto/hang.md", tree) ==
        "see [jobs](../jobs.md#exit-status), [x](../../../../ddlrun/examples/jobs/README.md)\n");
  CHECK(fit_links("[jobs](../../docs/jobs.md)", "examples/jobs/README.md", tree) ==
        "[jobs](../../../doc/ddlrun/docs/jobs.md)");
  CHECK(fit_links("[docs/jobs.md](docs/jobs.md)", "README.md", tree) == "[docs/jobs.md](docs/jobs.md)");
}

TEST_CASE("a page that is not installed is named, not linked") {
  CHECK(fit_links("the code: [overview](ARCHITECTURE.md). [Jobs](docs/jobs.md)", "README.md", tree) ==
        "the code: overview (ARCHITECTURE.md in the source). [Jobs](docs/jobs.md)");
  CHECK(fit_links("[CONTRIBUTING.md](CONTRIBUTING.md)", "README.md", tree) ==
        "CONTRIBUTING.md (in the source)");
}

TEST_CASE("what is no relative link stays") {
  for (const char* text : {"[a](https://x.org/y) [b](#below) [c](/etc/motd)", "a[0](1", "](x)",
                           "    context[rank](no_page)", "no link"})
    CHECK(fit_links(text, "README.md", tree) == text);
}
