// SPDX-License-Identifier: MIT
// MPI's own collectives as the judge: every type that MPI has, every operation, sizes around the limits of
// libddl's ways, memory that the ranks share and memory that they do not. Integers take all their bits, so
// that sums and products wrap around; but sums of bytes, which Open MPI 4.1 ends at 255, stay below that.
#include "ddl/ddl.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using ddl::Operation;

template <typename Number>
MPI_Datatype mpi_type() {
  if (std::is_same_v<Number, float>) return MPI_FLOAT;
  if (std::is_same_v<Number, double>) return MPI_DOUBLE;
  if (std::is_same_v<Number, std::int32_t>) return MPI_INT32_T;
  return std::is_same_v<Number, std::int64_t> ? MPI_INT64_T : MPI_UINT8_T;
}

MPI_Op mpi_operation(Operation operation) {
  if (operation == Operation::sum) return MPI_SUM;
  if (operation == Operation::max) return MPI_MAX;
  return operation == Operation::min ? MPI_MIN : MPI_PROD;
}

// Floating-point numbers whose sums and products are exact in any order: few bits, and powers of two.
template <typename Number>
Number any_number(std::mt19937_64& random, Operation operation) {
  const std::uint64_t bits = random();
  if constexpr (std::is_integral_v<Number>) {
    const bool small = sizeof(Number) == 1 && operation == Operation::sum;
    return static_cast<Number>(small ? bits % 60 : bits);
  } else {
    constexpr Number factors[] = {1, 2, Number{0.5}, -1};
    if (operation == Operation::product) return factors[bits % 4];
    return static_cast<Number>(static_cast<std::int64_t>(bits % 2001) - 1000);
  }
}

class Judge {
 public:
  explicit Judge(ddl::Context& ddl) : ddl_(ddl), random_(static_cast<unsigned>(ddl.rank()) + 1) {}
  int judged() const { return judged_; }

  template <typename Number>
  void all_calls() {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{7}, std::size_t{1024}, std::size_t{5000}, std::size_t{300007}}) {
      for (const Operation operation : {Operation::sum, Operation::max, Operation::min, Operation::product}) {
        all_reduce<Number>(count, operation);
        if (count <= 5000) reduce_scatter<Number>(count, operation);
        reduce<Number>(count, operation);
      }
      moves<Number>(count);
    }
  }

 private:
  template <typename Number>
  std::vector<Number> numbers(std::size_t count, Operation operation = Operation::sum) {
    std::vector<Number> values(count);
    for (Number& value : values) value = any_number<Number>(random_, operation);
    return values;
  }

  template <typename Number>
  void compare(const char* call, Operation operation, std::span<const Number> found,
               const std::vector<Number>& expected) {
    ++judged_;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::memcmp(&found[i], &expected[i], sizeof(Number)) == 0) continue;
      std::printf("rank %d: %s (%s) of %zu %s differs from MPI's at %zu\n", ddl_.rank(), call,
                  std::string(name_of(operation)).c_str(), expected.size(),
                  std::string(name_of(ddl::DataTypeOf<Number>::value)).c_str(), i);
      std::fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

  template <typename Number>
  void all_reduce(std::size_t count, Operation operation) {
    const std::vector<Number> mine = numbers<Number>(count, operation);
    std::vector<Number> expected(count);
    MPI_Allreduce(mine.data(), expected.data(), static_cast<int>(count), mpi_type<Number>(),
                  mpi_operation(operation), MPI_COMM_WORLD);
    std::vector<Number> own = mine;
    const ddl::Buffer<Number> shared = ddl_.allocate<Number>(count);
    std::copy(mine.begin(), mine.end(), shared.begin());
    ddl_.all_reduce(ddl::tensor(own, "own"), operation);
    ddl_.start_all_reduce(shared, operation).wait();
    compare<Number>("all_reduce", operation, own, expected);
    compare<Number>("start_all_reduce", operation, shared.values(), expected);
  }

  template <typename Number>
  void reduce(std::size_t count, Operation operation) {
    const int root = static_cast<int>(count % static_cast<std::size_t>(ddl_.size()));
    std::vector<Number> mine = numbers<Number>(count, operation);
    std::vector<Number> expected = mine;
    MPI_Reduce(mine.data(), expected.data(), static_cast<int>(count), mpi_type<Number>(),
               mpi_operation(operation), root, MPI_COMM_WORLD);
    if (ddl_.rank() != root) expected = mine;
    const ddl::Buffer<Number> shared = ddl_.allocate<Number>(count);
    std::copy(mine.begin(), mine.end(), shared.begin());
    ddl_.reduce(mine, operation, root);
    ddl_.start_reduce(shared, operation, root).wait();
    compare<Number>("reduce", operation, mine, expected);
    compare<Number>("start_reduce", operation, shared.values(), expected);
  }

  template <typename Number>
  void reduce_scatter(std::size_t count, Operation operation) {
    const auto ranks = static_cast<std::size_t>(ddl_.size());
    std::vector<Number> in = numbers<Number>(count * ranks, operation);
    std::vector<Number> expected(count);
    std::vector<Number> out(count);
    MPI_Reduce_scatter_block(in.data(), expected.data(), static_cast<int>(count), mpi_type<Number>(),
                             mpi_operation(operation), MPI_COMM_WORLD);
    ddl_.reduce_scatter(ddl::tensor(in), ddl::tensor(out), operation);
    compare<Number>("reduce_scatter", operation, out, expected);
  }

  template <typename Number>
  void moves(std::size_t count) {
    const auto ranks = static_cast<std::size_t>(ddl_.size());
    const int root = static_cast<int>(count % ranks);
    const int length = static_cast<int>(count);
    std::vector<Number> mine = numbers<Number>(count);
    std::vector<Number> expected(count * ranks);
    std::vector<Number> all(count * ranks);
    MPI_Allgather(mine.data(), length, mpi_type<Number>(), expected.data(), length, mpi_type<Number>(),
                  MPI_COMM_WORLD);
    ddl_.all_gather(ddl::tensor(mine), ddl::tensor(all));
    compare<Number>("all_gather", Operation::sum, all, expected);
    MPI_Gather(mine.data(), length, mpi_type<Number>(), expected.data(), length, mpi_type<Number>(), root,
               MPI_COMM_WORLD);
    std::fill(all.begin(), all.end(), Number{});
    if (ddl_.rank() != root) expected = all;
    ddl_.gather(ddl::tensor(mine), ddl::tensor(all), root);
    compare<Number>("gather", Operation::sum, all, expected);
    std::vector<Number> part(count);
    std::vector<Number> expected_part(count);
    MPI_Scatter(all.data(), length, mpi_type<Number>(), expected_part.data(), length, mpi_type<Number>(),
                root, MPI_COMM_WORLD);
    ddl_.scatter(ddl::tensor(all), ddl::tensor(part), root);
    compare<Number>("scatter", Operation::sum, part, expected_part);
    std::vector<Number> roots = mine;
    MPI_Bcast(roots.data(), length, mpi_type<Number>(), root, MPI_COMM_WORLD);
    ddl_.broadcast(mine, root);
    compare<Number>("broadcast", Operation::sum, mine, roots);
  }

  ddl::Context& ddl_;
  std::mt19937_64 random_;
  int judged_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    ddl::Context ddl(argc, argv);
    Judge judge(ddl);
    judge.all_calls<float>();
    judge.all_calls<double>();
    judge.all_calls<std::int32_t>();
    judge.all_calls<std::int64_t>();
    judge.all_calls<std::uint8_t>();
    std::printf("rank %d of %d (%s): %d results are MPI's\n", ddl.rank(), ddl.size(), ddl.dims().c_str(),
                judge.judged());
  } catch (const ddl::Error& error) {
    std::fprintf(stderr, "%s\n", error.text().c_str());
    return 1;
  }
}
