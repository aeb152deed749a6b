// SPDX-License-Identifier: MIT
#include "base/text/colour.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/text/colour");

TEST_CASE("the severity and the labels of a message have a colour, its words have none") {
  CHECK(colour_messages("ddlrun: error: no such error: x\n  try: ls\nplain\n") ==
        "ddlrun: \x1b[1;31merror:\x1b[0m no such error: x\n\x1b[32m  try:\x1b[0m ls\nplain\n");
  CHECK(colour_messages("job.pbs:4:6: warning: a") == "job.pbs:4:6: \x1b[33mwarning:\x1b[0m a");
  CHECK(colour_messages("a line with a blank: error: b\n") == "a line with a blank: error: b\n");
  CHECK(colour_messages("") == "");
}

TEST_SUITE_END();
