// SPDX-License-Identifier: MIT
// Every rank has a gradient; afterwards all have the average.  ddlrun launch 2x1x1 localhost -- ./sum
#include <ddl/ddl.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  try {
    ddl::Context context(argc, argv);
    const ddl::Buffer<float> gradient = context.allocate<float>(1'000'000);
    for (float& value : gradient) value = static_cast<float>(context.rank() + 1);
    context.all_reduce(gradient, ddl::Operation::average);
    std::printf("rank %d of %d (%s): %g\n", context.rank(), context.size(), context.dims().c_str(),
                static_cast<double>(gradient[0]));
  } catch (const ddl::Error& error) {
    std::fprintf(stderr, "%s\n", error.text().c_str());
    return 1;
  }
}
