// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/mpi_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <limits>

namespace ddlrun::ddl_bench {
namespace {

std::optional<MPI_Datatype> mpi_type(ddl::DataType type) {
  switch (type) {
    case ddl::DataType::float32:
      return MPI_FLOAT;
    case ddl::DataType::float64:
      return MPI_DOUBLE;
    case ddl::DataType::int32:
      return MPI_INT32_T;
    case ddl::DataType::int64:
      return MPI_INT64_T;
    case ddl::DataType::uint8:
      return MPI_UINT8_T;
    case ddl::DataType::float16:
    case ddl::DataType::bfloat16:
      break;
  }
  return std::nullopt;
}

// Counts of MPI are ints; larger vectors go in parts.
void all_reduce_parts(const std::byte* in, std::byte* out, std::size_t bytes, MPI_Datatype type,
                      std::size_t unit) {
  const std::size_t most = (static_cast<std::size_t>(std::numeric_limits<int>::max()) / 64 * 64) * unit;
  for (std::size_t at = 0; at < bytes; at += most) {
    const int count = static_cast<int>(std::min(most, bytes - at) / unit);
    const void* const from = in == out ? MPI_IN_PLACE : static_cast<const void*>(in + at);
    MPI_Allreduce(from, out + at, count, type, MPI_SUM, MPI_COMM_WORLD);
  }
}

using Memory = std::shared_ptr<std::vector<std::byte>>;

class MpiCase : public Case {
 public:
  MpiCase(Memory in, Memory out, ddl::DataType type)
      : in_(std::move(in)), out_(std::move(out)), type_(*mpi_type(type)), unit_(ddl::size_of(type)) {}
  std::string how() const override { return in_ == out_ ? "in place" : "out of place"; }
  std::span<std::byte> input() override { return *in_; }
  std::span<const std::byte> output() override { return *out_; }
  void call() override { all_reduce_parts(in_->data(), out_->data(), in_->size(), type_, unit_); }

 private:
  Memory in_, out_;
  MPI_Datatype type_;
  std::size_t unit_;
};

}  // namespace

MpiAllReduce mpi_all_reduce(ddl::DataType type, bool in_place) {
  if (!mpi_type(type)) return {std::nullopt, "MPI has no " + std::string(ddl::name_of(type))};
  const auto make = [type, in_place](std::size_t bytes) {
    const auto in = std::make_shared<std::vector<std::byte>>(bytes);
    const auto out = std::make_shared<std::vector<std::byte>>(bytes);
    std::vector<std::unique_ptr<Case>> cases;
    if (in_place) cases.push_back(std::make_unique<MpiCase>(in, in, type));
    cases.push_back(std::make_unique<MpiCase>(in, out, type));
    return cases;
  };
  return {Backend{"mpi", Roofline::sums, make}, ""};
}

}  // namespace ddlrun::ddl_bench
