// SPDX-License-Identifier: MIT
// tcp_sums: sums of every type and size on ranks that connect over TCP, against closed forms; exit 1 with the
// first that is wrong.
#include "ddl/ddl.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

// Values that all types hold exactly, and whose sums are exact: element i of rank r is (i % 7) + r.
double value(std::size_t i, int rank) { return static_cast<double>(i % 7) + rank; }
double total(std::size_t i, int ranks) {
  return static_cast<double>(i % 7) * ranks + static_cast<double>(ranks * (ranks - 1)) / 2.0;
}

// The bits of a small whole number in a 16-bit type with `exponent_bits`.
std::uint16_t narrow(double number, int exponent_bits) {
  if (number == 0.0) return 0;
  int exponent = 0;
  const double mantissa =
      std::frexp(number, &exponent) * 2.0 - 1.0;  // number = (1 + mantissa) * 2^(exponent-1)
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  return static_cast<std::uint16_t>((exponent - 1 + bias) << mantissa_bits |
                                    static_cast<int>(mantissa * (1 << mantissa_bits)));
}

template <typename Number>
Number number_of(double value) {
  return static_cast<Number>(value);
}
template <>
ddl::Float16 number_of(double value) {
  return {narrow(value, 5)};
}
template <>
ddl::BFloat16 number_of(double value) {
  return {narrow(value, 8)};
}

template <typename Number>
bool same_bits(const Number& a, const Number& b) {
  return std::memcmp(&a, &b, sizeof(Number)) == 0;
}

template <typename Number>
void check(ddl::Context& ddl, std::size_t count, const std::string& type) {
  const auto wrong = [&](const char* call, std::size_t i) {
    std::printf("rank %d: %s of %zu %s is wrong at %zu\n", ddl.rank(), call, count, type.c_str(), i);
    std::exit(1);
  };
  std::vector<Number> values(count);
  const ddl::Buffer<Number> shared = ddl.allocate<Number>(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = shared[i] = number_of<Number>(value(i, ddl.rank()));
  ddl.all_reduce(ddl::tensor(std::span(values), "values"), ddl::Operation::sum);
  ddl.start_all_reduce(shared, ddl::Operation::max).wait();
  for (std::size_t i = 0; i < count; ++i) {
    if (!same_bits(values[i], number_of<Number>(total(i, ddl.size())))) wrong("all_reduce", i);
    if (!same_bits(shared[i], number_of<Number>(value(i, ddl.size() - 1)))) wrong("start_all_reduce", i);
  }
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = number_of<Number>(value(i, ddl.rank()));
    shared[i] = number_of<Number>(i % 5 == static_cast<std::size_t>(ddl.rank()) ? 3 : 1);
  }
  ddl.all_reduce(ddl::tensor(std::span(values), "values"), ddl::Operation::min);
  ddl.all_reduce(shared, ddl::Operation::product);
  for (std::size_t i = 0; i < count; ++i) {
    if (!same_bits(values[i], number_of<Number>(value(i, 0)))) wrong("the minimum", i);
    const bool has_three = i % 5 < static_cast<std::size_t>(ddl.size());
    if (!same_bits(shared[i], number_of<Number>(has_three ? 3 : 1))) wrong("the product", i);
  }
  const int root = ddl.size() - 1;
  for (std::size_t i = 0; i < count; ++i) values[i] = number_of<Number>(value(i, ddl.rank()));
  ddl.broadcast(ddl::tensor(std::span(values)), root);
  for (std::size_t i = 0; i < count; ++i) {
    if (!same_bits(values[i], number_of<Number>(value(i, root)))) wrong("broadcast", i);
  }
  for (std::size_t i = 0; i < count; ++i) values[i] = shared[i] = number_of<Number>(value(i, ddl.rank()));
  ddl.reduce(ddl::tensor(values), ddl::Operation::sum, root);
  ddl.start_reduce(shared, ddl::Operation::max, root).wait();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_root = ddl.rank() == root;
    const double sum = is_root ? total(i, ddl.size()) : value(i, ddl.rank());
    if (!same_bits(values[i], number_of<Number>(sum))) wrong("reduce", i);
    if (!same_bits(shared[i], number_of<Number>(value(i, ddl.rank())))) wrong("start_reduce", i);
  }
  const auto ranks = static_cast<std::size_t>(ddl.size());
  std::vector<Number> all(count * ranks);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = number_of<Number>(value(i, 0));
  ddl.scatter(ddl::tensor(all), ddl::tensor(values), root);
  for (std::size_t i = 0; i < count; ++i) {
    if (!same_bits(values[i], number_of<Number>(value(static_cast<std::size_t>(ddl.rank()) * count + i, 0))))
      wrong("scatter", i);
  }
  std::fill(all.begin(), all.end(), Number{});
  ddl.gather(ddl::tensor(values), ddl::tensor(all), root);
  for (std::size_t i = 0; i < all.size() && ddl.rank() == root; ++i) {
    if (!same_bits(all[i], number_of<Number>(value(i, 0)))) wrong("gather", i);
  }
  for (std::size_t i = 0; i < count; ++i) values[i] = number_of<Number>(value(i, ddl.rank()));
  ddl.all_gather(ddl::tensor(std::span(values)), ddl::tensor(std::span(all)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!same_bits(all[i], number_of<Number>(value(i % count, static_cast<int>(i / count)))))
      wrong("all_gather", i);
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = number_of<Number>(value(i, ddl.rank()));
  ddl.reduce_scatter(ddl::tensor(std::span(all)), ddl::tensor(std::span(values)), ddl::Operation::sum);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(ddl.rank()) * count + i;
    if (!same_bits(values[i], number_of<Number>(total(at, ddl.size())))) wrong("reduce_scatter", i);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ddl::Context ddl(argc, argv);
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{4099}, (std::size_t{1} << 20) + 1}) {
      check<float>(ddl, count, "float32");
      check<double>(ddl, count, "float64");
      check<ddl::Float16>(ddl, count, "float16");
      check<ddl::BFloat16>(ddl, count, "bfloat16");
      check<std::int32_t>(ddl, count, "int32");
      check<std::int64_t>(ddl, count, "int64");
      check<std::uint8_t>(ddl, count, "uint8");
    }
    ddl.barrier();
    std::printf("rank %d of %d (%s): all sums are right\n", ddl.rank(), ddl.size(), ddl.dims().c_str());
  } catch (const ddl::Error& error) {
    std::fprintf(stderr, "error: %s\n  at:  %s\n  try: %s\n", error.what(), error.where().c_str(),
                 error.hint().c_str());
    return 1;
  }
}
