// SPDX-License-Identifier: MIT
// gpu_sums [HOST,HOST,... | c]: sums of tensors in GPU memory whose results are known in closed form: every
// type and operation, with a stream and without, several at once. Transport as they were started, or with
// HOSTs as threads of this process on hosts of those names; c: by the C interface. Also in two groups of
// ranks. Built with the CUDA runtime, and with one that is played.
#include "ddl/api/context_factory.hpp"
#include "ddl/ddl.h"
#include "ddl/ddl.hpp"
#include "ddl/transport/thread/thread_transport.hpp"
#include "tests/support/gpu_numbers.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <thread>

namespace {

using ddl::device_tensor;
using ddl::Operation;
using gpu_numbers::check;
using gpu_numbers::Device;

constexpr std::size_t counts[] = {0, 1, 3, 1000, 40007};

struct Tally {
  int sums = 0;
  int wrong = 0;
  void add(bool right, const std::string& what) {
    ++sums;
    if (right) return;
    ++wrong;
    std::fprintf(stderr, "wrong: %s\n", what.c_str());
  }
};

template <typename Number>
std::string title(const char* call, std::size_t count, int rank) {
  return std::string(call) + " of " + std::to_string(count) + " " +
         std::string(name_of(ddl::DataTypeOf<Number>::value)) + " on rank " + std::to_string(rank);
}

// What comes into the stream late must be in the sum, what reads it there must see the sum.
template <typename Number>
void all_reduces(ddl::Context& ddl, cudaStream_t stream, Tally& tally) {
  const int n = ddl.size();
  for (const std::size_t count : counts) {
    for (const Operation operation :
         {Operation::sum, Operation::average, Operation::max, Operation::min, Operation::product}) {
      if (std::is_integral_v<Number> && operation == Operation::average) continue;
      if (sizeof(Number) == 2 && operation == Operation::product) continue;  // not exact
      Device<Number> values(count);
      values.fill(ddl.rank(), stream, count == 1000 ? 20 : 0);
      ddl.all_reduce(device_tensor(values.data(), count, "x", stream), operation);
      tally.add(
          values.equals(stream, [&](std::size_t i) { return gpu_numbers::result<Number>(i, n, operation); }),
          title<Number>("all_reduce", count, ddl.rank()));
    }
  }
}

template <typename Number>
void many_at_once(ddl::Context& ddl, cudaStream_t stream, Tally& tally) {
  std::vector<Device<Number>> all;
  std::vector<ddl::Tensor> tensors;
  for (const std::size_t count : counts) {
    all.emplace_back(count);
    all.back().fill(ddl.rank(), stream, 0);
    tensors.push_back(device_tensor(all.back().data(), count, "many", stream));
  }
  ddl.all_reduce_n(tensors, Operation::max);
  for (const auto& each : all)
    tally.add(each.equals(
                  stream,
                  [&](std::size_t i) { return gpu_numbers::result<Number>(i, ddl.size(), Operation::max); }),
              title<Number>("all_reduce_n", each.size(), ddl.rank()));
  std::vector<ddl::Handle> handles;
  for (auto& each : all) {
    each.fill(ddl.rank(), stream, 5);
    handles.push_back(
        ddl.start_all_reduce(device_tensor(each.data(), each.size(), "started", stream), Operation::sum));
  }
  for (ddl::Handle& handle : handles) handle.wait();
  for (const auto& each : all)
    tally.add(each.equals(
                  stream,
                  [&](std::size_t i) { return gpu_numbers::result<Number>(i, ddl.size(), Operation::sum); }),
              title<Number>("start_all_reduce", each.size(), ddl.rank()));
}

template <typename Number>
void other_calls(ddl::Context& ddl, cudaStream_t stream, Tally& tally) {
  const auto size = static_cast<std::size_t>(ddl.size());
  const auto me = static_cast<std::size_t>(ddl.rank());
  const int root = ddl.size() - 1;
  for (const std::size_t count : counts) {
    Device<Number> one(count);
    Device<Number> all(count * size);
    one.fill(ddl.rank(), stream, 0);
    ddl.broadcast(device_tensor(one.data(), count, "one", stream), root);
    tally.add(one.equals(stream, [&](std::size_t i) { return gpu_numbers::value<Number>(i, root); }),
              title<Number>("broadcast", count, ddl.rank()));
    one.fill(ddl.rank(), stream, 0);
    ddl.reduce(device_tensor(one.data(), count, "one", stream), Operation::sum, root);
    tally.add(one.equals(stream,
                         [&](std::size_t i) {
                           return ddl.rank() == root
                                      ? gpu_numbers::result<Number>(i, ddl.size(), Operation::sum)
                                      : gpu_numbers::value<Number>(i, ddl.rank());
                         }),
              title<Number>("reduce", count, ddl.rank()));
    one.fill(ddl.rank(), stream, 0);
    ddl.all_gather(device_tensor(one.data(), count, "one", stream),
                   device_tensor(all.data(), count * size, "all", stream));
    tally.add(all.equals(stream,
                         [&](std::size_t i) {
                           return gpu_numbers::value<Number>(i % count, static_cast<int>(i / count));
                         }),
              title<Number>("all_gather", count, ddl.rank()));
    all.fill(ddl.rank(), stream, 0);
    ddl.reduce_scatter(device_tensor(all.data(), count * size, "all", stream),
                       device_tensor(one.data(), count, "one", stream), Operation::sum);
    tally.add(one.equals(stream,
                         [&](std::size_t i) {
                           return gpu_numbers::result<Number>(me * count + i, ddl.size(), Operation::sum);
                         }),
              title<Number>("reduce_scatter", count, ddl.rank()));
  }
}

template <typename Number>
void all_calls(ddl::Context& ddl, cudaStream_t stream, Tally& tally) {
  all_reduces<Number>(ddl, stream, tally);
  many_at_once<Number>(ddl, stream, tally);
  other_calls<Number>(ddl, stream, tally);
}

// Host memory goes its own way between them; what cannot be is refused and the next call works.
void mixed(ddl::Context& ddl, Tally& tally) {
  std::vector<float> host(1000, static_cast<float>(ddl.rank()));
  Device<float> values(1000);
  values.fill(ddl.rank(), nullptr, 0);
  ddl::Handle sum = ddl.start_all_reduce(device_tensor(values.data(), 1000, "x"), Operation::sum);
  ddl.all_reduce(ddl::tensor(std::span(host), "host"), Operation::max);
  sum.wait();
  tally.add(host[999] == static_cast<float>(ddl.size() - 1), "a sum in host memory");
  tally.add(
      values.equals(nullptr,
                    [&](std::size_t i) { return gpu_numbers::result<float>(i, ddl.size(), Operation::sum); }),
      "a sum started before it");
  int refused = 0;
  const auto refuse = [&](const ddl::Tensor& tensor, Operation operation) {
    try {
      ddl.all_reduce(tensor, operation);
    } catch (const ddl::Error& error) {
      refused += error.fault() == ddl::Fault::usage ? 1 : 0;
    }
  };
  refuse(ddl::device_tensor(host.data(), 1000, "host"), Operation::sum);
  refuse({reinterpret_cast<std::byte*>(values.data()), 10, ddl::DataType::int32, "i", ddl::Memory::device},
         Operation::average);
  tally.add(refused == 2, "refusals: " + std::to_string(refused));
}

int run(ddl::Context& ddl) {
  if (ddl.device() == "cpu") gpu_numbers::select_gpu(ddl.local_rank());
  Tally tally;
  cudaStream_t own = nullptr;
  check(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), "cudaStreamCreate");
  for (cudaStream_t const stream : {static_cast<cudaStream_t>(nullptr), own}) {
    all_calls<float>(ddl, stream, tally);
    all_calls<double>(ddl, stream, tally);
    all_calls<ddl::Float16>(ddl, stream, tally);
    all_calls<ddl::BFloat16>(ddl, stream, tally);
    all_calls<std::int32_t>(ddl, stream, tally);
    all_calls<std::int64_t>(ddl, stream, tally);
    all_calls<std::uint8_t>(ddl, stream, tally);
  }
  mixed(ddl, tally);
  std::optional<ddl::Context> group = ddl.split(ddl.rank() % 2, -ddl.rank());
  for (int i = 0; i < 2; ++i) {
    all_calls<float>(*group, own, tally);
    other_calls<std::int32_t>(ddl, own, tally);
  }
  group.reset();
  std::printf("rank %d of %d on %s (%s): %d of %d as expected\n", ddl.rank(), ddl.size(),
              ddl.device().c_str(), ddl.dims().c_str(), tally.sums - tally.wrong, tally.sums);
  ddl.barrier();
  check(cudaStreamDestroy(own), "cudaStreamDestroy");
  return tally.wrong;
}

int reported(const ddl::Error& error) {
  std::fprintf(stderr, "%s\n  at:  %s\n  try: %s\n", error.what(), error.where().c_str(),
               error.hint().c_str());
  return 1;
}

int run_threads(const std::string& hosts) {
  std::vector<std::string> names;
  std::istringstream list(hosts);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  const char* const text = std::getenv("DDL_OPTIONS");
  const ddl::Options options = ddl::parse_options(text == nullptr ? "" : text);
  auto ranks = ddl::make_thread_transports(names);
  std::vector<int> wrong(names.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < names.size(); ++r) {
    threads.emplace_back([&, r] {
      try {
        ddl::Context ddl = ddl::ContextFactory::make(std::move(ranks[r]), options);
        wrong[r] = run(ddl);
      } catch (const ddl::Error& error) {
        wrong[r] = reported(error);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  int sum = 0;
  for (const int each : wrong) sum += each;
  return sum == 0 ? 0 : 1;
}

// Through ddl.h: a sum, its parts, all of them again.
int run_c(int argc, char** argv) {
  ddl_context* ddl = nullptr;
  if (ddl_init(&argc, &argv, nullptr, &ddl) != 0) return std::fprintf(stderr, "%s\n", ddl_last_error()), 1;
  const int n = ddl_size(ddl);
  const int me = ddl_rank(ddl);
  gpu_numbers::select_gpu(ddl_local_rank(ddl));
  const std::size_t all_count = 1000 * static_cast<std::size_t>(n);
  Device<float> all(all_count);
  Device<float> part(1000);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  all.fill(me, stream, 5);
  ddl_handle* handle = nullptr;
  int wrong =
      ddl_gpu_reduce_scatter(ddl, all.data(), part.data(), 1000, DDL_FLOAT32, DDL_SUM, stream) +
      ddl_gpu_all_gather(ddl, part.data(), all.data(), 1000, DDL_FLOAT32, stream) +
      ddl_gpu_start_all_reduce(ddl, all.data(), all_count, DDL_FLOAT32, DDL_AVERAGE, stream, &handle) +
      ddl_wait(handle) + ddl_gpu_all_reduce(ddl, all.data(), all_count, DDL_FLOAT32, DDL_MAX, stream) +
      ddl_gpu_broadcast(ddl, all.data(), all_count, DDL_FLOAT32, 0, stream) +
      ddl_gpu_reduce(ddl, all.data(), all_count, DDL_FLOAT32, DDL_MAX, 0, stream);
  if (wrong != 0) std::fprintf(stderr, "%s\n", ddl_last_error());
  if (!all.equals(stream, [&](std::size_t i) { return gpu_numbers::result<float>(i, n, Operation::sum); }))
    ++wrong;
  std::printf("rank %d of %d on %s in C: %d of 1 as expected\n", me, n, ddl_device(ddl), wrong == 0 ? 1 : 0);
  return wrong + ddl_finalize(ddl);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string(argv[1]) == "c") return run_c(argc, argv);
    if (argc > 1) return run_threads(argv[1]);
    ddl::Context ddl(argc, argv);
    return run(ddl) == 0 ? 0 : 1;
  } catch (const ddl::Error& error) {
    return reported(error);
  }
}
