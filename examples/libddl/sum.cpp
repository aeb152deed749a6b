// SPDX-License-Identifier: MIT
// Every rank has a gradient; afterwards all have the average.  ddlrun launch 2x1x1 localhost -- ./sum
#include <ddl/ddl.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  try {
    ddl::Context ddl(argc, argv);
    const ddl::Buffer<float> gradient = ddl.allocate<float>(1'000'000);
    for (float& value : gradient.values()) value = static_cast<float>(ddl.rank() + 1);
    ddl.all_reduce(gradient, ddl::Operation::average);
    std::printf("rank %d of %d (%s): %g\n", ddl.rank(), ddl.size(), ddl.dims().c_str(),
                static_cast<double>(gradient[0]));
  } catch (const ddl::Error& error) {
    std::fprintf(stderr, "%s\n  at:  %s\n  try: %s\n", error.what(), error.where().c_str(),
                 error.hint().c_str());
    return 1;
  }
}
