// SPDX-License-Identifier: MIT
#include "doctor/diagnose/module_name.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/module_name");

TEST_CASE("a typing error differs from another module") {
  struct Row {
    const char *typed, *meant;
  };
  for (const Row& row :
       {Row{"torhc", "torch"}, Row{"troch", "torch"}, Row{"toch", "torch"}, Row{"torchh", "torch"},
        Row{"Torch", "torch"}, Row{"numpi", "numpy"}, Row{"torhc.nn", "torch"},
        Row{"tensorflwo.keras", "tensorflow"}, Row{"torch", ""}, Row{"torch.fx", ""}, Row{"mymodel", ""},
        Row{"utils", ""}, Row{"py", ""}, Row{"", ""}}) {
    CAPTURE(row.typed);
    CHECK(meant_module(row.typed).value_or("") == row.meant);
  }
}

TEST_CASE("pip is advised for modules that are known, by the names of their packages") {
  struct Row {
    std::string module, title, first, pip;
  };
  for (const Row& row :
       {Row{"torhc", "a Python module is missing: torhc (did you mean torch?)", "grep -rnw torhc ", ""},
        Row{"torch", "a Python module is missing: torch", "python3 -c", "pip install torch "},
        Row{"mymodel", "a Python module is missing: mymodel", "python3 -c", "pip install PACKAGE "}}) {
    CAPTURE(row.module);
    const Diagnosis found = diagnose_text(
        "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    import " + row.module +
            "\nModuleNotFoundError: No module named '" + row.module + "'\n",
        {1, LogSource::unknown});
    REQUIRE(found.cause);
    CHECK(found.cause->title == row.title);
    CHECK(found.cause->remedies.front().starts_with(row.first));
    const bool has_pip = std::ranges::any_of(found.cause->remedies, [&](const std::string& remedy) {
      return remedy.find(row.pip.empty() ? "pip" : row.pip) != std::string::npos;
    });
    CHECK(has_pip == !row.pip.empty());
  }
}

TEST_SUITE_END();
