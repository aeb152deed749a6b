// SPDX-License-Identifier: MIT
// What a mode does to every kind of sum: how many MPI made, and
// the values that are not what arithmetic says, a NaN among them.
#include "ddl/ddl.hpp"
#include "tests/mpi/counted_sums.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace {

std::size_t count_others(std::span<const float> values, float expected) {
  std::size_t others = 0;
  for (const float value : values) others += value == expected ? 0 : 1;
  return others;
}

struct Found {
  std::size_t wrong = 0;
  int by_mpi = 0;
};

Found add_up(ddl::Context& ddl) {
  const ddl::Buffer<float> gradient = ddl.allocate<float>(70001);
  const ddl::Buffer<float> weights = ddl.allocate_for_host<float>(70001);
  const int before = sums_by_mpi;
  const auto ranks = static_cast<float>(ddl.size());
  const float sum = ranks * (ranks + 1) / 2;
  const auto mine = static_cast<float>(ddl.rank() + 1);
  std::vector<float> values(70001, mine);
  ddl.all_reduce(ddl::tensor(std::span(values)), ddl::Operation::sum);
  std::size_t wrong = count_others(values, sum);

  std::vector<float> first(3, mine);
  std::vector<float> second(5, mine);
  const ddl::Tensor both[] = {ddl::tensor(std::span(first)), ddl::tensor(std::span(second))};
  ddl.all_reduce_n(both, ddl::Operation::sum);
  wrong += count_others(first, sum) + count_others(second, sum);

  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = mine;
  ddl.all_reduce_update(gradient, ddl::Operation::sum,
                        [&](std::size_t begin, std::size_t count, const std::byte* sums) {
                          for (std::size_t i = 0; i < count; ++i)
                            weights[begin + i] = reinterpret_cast<const float*>(sums)[i];
                        });
  return {wrong + count_others(weights.values(), sum), sums_by_mpi - before};
}

// The largest and the smallest of numbers and NaN is NaN, whichever rank has it.
template <typename Number>
std::size_t lose_nan(ddl::Context& ddl) {
  std::size_t lost = 0;
  for (int whose = 0; whose < ddl.size(); ++whose) {
    for (const std::size_t count : {4, 70001}) {
      for (const auto operation : {ddl::Operation::max, ddl::Operation::min}) {
        std::vector<Number> values(count, static_cast<Number>(ddl.rank()));
        if (ddl.rank() == whose) values[count - 1] = std::numeric_limits<Number>::quiet_NaN();
        ddl.all_reduce(values, operation);
        const int expected = operation == ddl::Operation::max ? ddl.size() - 1 : 0;
        lost += std::isnan(values[count - 1]) ? 0 : 1;
        lost += values[0] == static_cast<Number>(expected) ? 0 : 1;
      }
    }
  }
  return lost;
}

// Sums of integers wrap around in each mode.
std::size_t count_unwrapped(ddl::Context& ddl) {
  std::vector<std::uint8_t> bytes(70001, 200);
  ddl.all_reduce(bytes, ddl::Operation::sum);
  std::size_t others = 0;
  for (const std::uint8_t value : bytes)
    others += value == static_cast<std::uint8_t>(200 * ddl.size()) ? 0 : 1;
  return others;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ddl::Context ddl(argc, argv);
    const Found found = add_up(ddl);
    const std::size_t wrong =
        found.wrong + lose_nan<float>(ddl) + lose_nan<double>(ddl) + count_unwrapped(ddl);
    std::printf("rank %d of %d: %zu wrong, sums by MPI: %d\n", ddl.rank(), ddl.size(), wrong, found.by_mpi);
  } catch (const ddl::Error& error) {
    std::fprintf(stderr, "%s\n  at:  %s\n  try: %s\n", error.what(), error.where().c_str(),
                 error.hint().c_str());
    return 1;
  }
}
