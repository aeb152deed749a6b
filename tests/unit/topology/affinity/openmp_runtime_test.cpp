// SPDX-License-Identifier: MIT
#include "topology/affinity/thread_settings.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::affinity;

TEST_SUITE_BEGIN("topology/affinity/openmp_runtime");

TEST_CASE("the runtime is known by the names of the libraries") {
  struct Row {
    std::vector<std::string> libraries;
    OpenMpRuntime runtime;
  };
  using enum OpenMpRuntime;
  for (const Row& row :
       {Row{{"libc.so.6", "libgomp.so.1"}, libgomp}, Row{{"libomp.so.5", "libc.so.6"}, libomp},
        Row{{"libomp5.so"}, libomp}, Row{{"libomp-14.so.5"}, libomp}, Row{{"libiomp5.so"}, libomp},
        Row{{"/opt/intel/lib/libiomp5.so"}, libomp}, Row{{"libgomp-a34b3233.so.1.0.0"}, libgomp},
        Row{{"libgomp.so.1", "libiomp5.so"}, unknown}, Row{{"libmkl_rt.so.2"}, unknown},
        Row{{"libmkl_rt.so.2", "libiomp5.so"}, libomp},
        Row{{"libompi_dbg_msgq.so", "libompitrace.so.40", "libmpi.so.40"}, none},
        Row{{"libomptarget.so.14"}, none}, Row{{"libgompertz.so"}, none}, Row{{}, none}}) {
    CAPTURE(row.libraries.size());
    CAPTURE((row.libraries.empty() ? "" : row.libraries[0]));
    CHECK(runtime_of(row.libraries) == row.runtime);
  }
  CHECK(name_of(libomp) == "libomp");
  CHECK(name_of(none) == "none");
}

TEST_SUITE_END();
