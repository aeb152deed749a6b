// SPDX-License-Identifier: MIT
// What ddl::tensor() takes, and a Buffer as a range.
#include "ddl/api/context_factory.hpp"
#include "ddl/ddl.hpp"
#include "ddl/transport/transport.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

TEST_SUITE_BEGIN("ddl/include/tensor");

namespace {

bool is_tensor_of(const ddl::Tensor& tensor, const void* data, std::size_t count, ddl::DataType type) {
  return tensor.data == data && tensor.count == count && tensor.type == type;
}

}  // namespace

TEST_CASE("tensor() takes vectors, arrays and spans of any extent") {
  std::vector<float> vector(4);
  std::array<double, 3> array{};
  std::int32_t plain[5] = {};
  const std::span<float> view(vector);
  std::vector<ddl::BFloat16> bits(2);
  long longs[2] = {};
  long long long_longs[3] = {};
  std::vector<std::int64_t> wide(6);
  std::vector<unsigned char> bytes(7);
  CHECK(is_tensor_of(ddl::tensor(vector), vector.data(), 4, ddl::DataType::float32));
  CHECK(is_tensor_of(ddl::tensor(array), array.data(), 3, ddl::DataType::float64));
  CHECK(is_tensor_of(ddl::tensor(plain), plain, 5, ddl::DataType::int32));
  CHECK(is_tensor_of(ddl::tensor(view), vector.data(), 4, ddl::DataType::float32));
  CHECK(is_tensor_of(ddl::tensor(std::span(array)), array.data(), 3, ddl::DataType::float64));
  CHECK(is_tensor_of(ddl::tensor(std::span(&vector[1], 1)), &vector[1], 1, ddl::DataType::float32));
  CHECK(is_tensor_of(ddl::tensor(bits), bits.data(), 2, ddl::DataType::bfloat16));
  CHECK(is_tensor_of(ddl::tensor(longs), longs, 2, ddl::DataType::int64));
  CHECK(is_tensor_of(ddl::tensor(long_longs), long_longs, 3, ddl::DataType::int64));
  CHECK(is_tensor_of(ddl::tensor(wide), wide.data(), 6, ddl::DataType::int64));
  CHECK(is_tensor_of(ddl::tensor(bytes), bytes.data(), 7, ddl::DataType::uint8));
  CHECK(ddl::tensor(array, "loss").name == "loss");
}

TEST_CASE("one number is a tensor, and calls take numbers as they are") {
  ddl::Context alone = ddl::ContextFactory::make(ddl::make_single_process_transport(), ddl::Options{});
  float loss = 2.0F;
  std::int32_t steps = 3;
  CHECK(is_tensor_of(ddl::tensor(loss), &loss, 1, ddl::DataType::float32));
  CHECK(is_tensor_of(ddl::tensor(steps, "steps"), &steps, 1, ddl::DataType::int32));
  std::vector<double> sums{1.0, 2.0};
  std::array<float, 2> pair{3.0F, 4.0F};
  const ddl::Buffer<float> buffer = alone.allocate<float>(8);
  alone.all_reduce(loss, ddl::Operation::sum);
  alone.all_reduce(sums, ddl::Operation::max);
  alone.all_reduce(std::span(sums), ddl::Operation::max);
  alone.all_reduce(pair, ddl::Operation::average);
  alone.all_reduce(buffer, ddl::Operation::sum);
  alone.all_reduce(ddl::tensor(loss, "loss"), ddl::Operation::sum);
  ddl::Tensor named = ddl::tensor(sums, "sums");
  alone.all_reduce(named, ddl::Operation::sum);
  alone.broadcast(steps, 0);
  alone.start_all_reduce(sums, ddl::Operation::sum).wait();
  alone.start_broadcast(loss, 0).wait();
  CHECK(loss == 2.0F);
  CHECK(steps == 3);
  CHECK(sums == std::vector<double>{1.0, 2.0});
}

TEST_CASE("a Buffer is a range of its elements") {
  ddl::Context alone = ddl::ContextFactory::make(ddl::make_single_process_transport(), ddl::Options{});
  const ddl::Buffer<float> buffer = alone.allocate<float>(100);
  std::iota(buffer.begin(), buffer.end(), 1.0F);
  for (float& value : buffer) value *= 2.0F;
  CHECK(std::accumulate(buffer.begin(), buffer.end(), 0.0) == 100.0 * 101.0);
  CHECK(is_tensor_of(ddl::tensor(buffer, "b"), buffer.data(), 100, ddl::DataType::float32));
}

TEST_SUITE_END();
