// SPDX-License-Identifier: MIT
#include "ddl_bench/mpi_world.hpp"

#include <mpi.h>

#include <algorithm>
#include <limits>

namespace ddlrun::ddl_bench {
namespace {

constexpr std::size_t link_bytes = std::size_t{16} << 20U;
constexpr int link_turns = 5;
constexpr std::size_t most_link_part = std::size_t{1} << 30U;

std::optional<MPI_Datatype> mpi_type(ddl::DataType type) {
  switch (type) {
    case ddl::DataType::float32:
      return MPI_FLOAT;
    case ddl::DataType::float64:
      return MPI_DOUBLE;
    case ddl::DataType::int32:
      return MPI_INT32_T;
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

class MpiVariant : public Variant {
 public:
  MpiVariant(Memory in, Memory out, ddl::DataType type)
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

// Both directions between each two neighbouring hosts, rank by rank.
class Exchange : public Variant {
 public:
  Exchange(const LinkPlace& place, std::size_t bytes)
      : partner_(partner_of(place)), out_(bytes), in_(bytes) {}
  std::span<std::byte> input() override { return {}; }
  std::span<const std::byte> output() override { return {}; }
  void call() override { pass(true, true); }
  void pass(bool sends, bool receives) {
    if (partner_ < 0) return;
    const int to = sends ? partner_ : MPI_PROC_NULL;
    const int from = receives ? partner_ : MPI_PROC_NULL;
    for (std::size_t at = 0; at < out_.size(); at += most_link_part) {
      const int part = static_cast<int>(std::min(most_link_part, out_.size() - at));
      MPI_Sendrecv(out_.data() + at, part, MPI_BYTE, to, 7, in_.data() + at, part, MPI_BYTE, from, 7,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }

 private:
  static int partner_of(const LinkPlace& place) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int mine = place.host * place.local_ranks + place.local_rank;
    std::vector<int> places(static_cast<std::size_t>(size));
    MPI_Allgather(&mine, 1, MPI_INT, places.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const int host = place.host ^ 1;
    if (host >= place.hosts) return -1;
    const auto found = std::find(places.begin(), places.end(), host * place.local_ranks + place.local_rank);
    return found == places.end() ? -1 : static_cast<int>(found - places.begin());
  }

  int partner_;
  std::vector<std::byte> out_, in_;
};

// Seconds of the slowest rank, the fastest turn of several.
double time_exchange(Exchange& exchange, bool sends, bool receives) {
  double least = 0.0;
  for (int turn = 0; turn <= link_turns; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    exchange.pass(sends, receives);
    const double mine = MPI_Wtime() - start;
    double slowest = 0.0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (turn == 1 || (turn > 1 && slowest < least)) least = slowest;  // turn 0 opens the connections
  }
  return least;
}

}  // namespace

std::optional<Way> mpi_way(ddl::DataType type, bool in_place) {
  if (!mpi_type(type)) return std::nullopt;
  return Way{"mpi", LimitForm::sums, [type, in_place](std::size_t bytes) {
               const auto in = std::make_shared<std::vector<std::byte>>(bytes);
               const auto out = std::make_shared<std::vector<std::byte>>(bytes);
               std::vector<std::unique_ptr<Variant>> variants;
               if (in_place) variants.push_back(std::make_unique<MpiVariant>(in, in, type));
               variants.push_back(std::make_unique<MpiVariant>(in, out, type));
               return variants;
             }};
}

LinkRate measure_link(const LinkPlace& place) {
  const std::size_t each = link_bytes / static_cast<std::size_t>(place.local_ranks);
  Exchange exchange(place, each);
  const double bytes = static_cast<double>(each) * place.local_ranks;
  const bool even = place.host % 2 == 0;
  const double one_way = time_exchange(exchange, even, !even);
  const double both = time_exchange(exchange, true, true);
  return {bytes / one_way, bytes / both};
}

std::unique_ptr<Variant> make_link_variant(const LinkPlace& place, std::size_t bytes) {
  const auto hosts = static_cast<std::size_t>(place.hosts);
  return std::make_unique<Exchange>(
      place, 2 * (hosts - 1) * bytes / hosts / static_cast<std::size_t>(place.local_ranks));
}

}  // namespace ddlrun::ddl_bench
