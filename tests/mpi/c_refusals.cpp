// SPDX-License-Identifier: MIT
// What the C interface refuses, on all ranks alike and without waiting; after it memory is allocated and
// summed. With "sizes": the ranks allocate other sizes. With "abandon": the last rank cannot go on.
#include "ddl/ddl.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace {

int failures = 0;

void require(bool right, const char* what) {
  if (right) return;
  ++failures;
  std::printf("wrong: %s; the last message: %s\n", what, ddl_last_error());
}

bool says(const char* text) { return std::strstr(ddl_last_error(), text) != nullptr; }

// The last rank leaves while the others wait for it: they get its error long before the timeout of 5 s.
int abandon(ddl_context* ddl, const char* reason) {
  const std::time_t begun = std::time(nullptr);
  const bool leaves = ddl_rank(ddl) == ddl_size(ddl) - 1;
  require(ddl_allocate(ddl, 4000) != nullptr, "memory that is never freed");
  if (leaves) {
    ddl_abandon(ddl, reason);
  } else {
    require(ddl_barrier(ddl) == DDL_ERROR_LOST, "a call that the last rank does not make");
    std::printf("%s\n", ddl_last_error());
    require(ddl_finalize(ddl) == DDL_ERROR_LOST, "the end after it");
  }
  require(std::time(nullptr) - begun <= 3, "the time that it took");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  float one = 1.0F;
  require(ddl_all_reduce(nullptr, &one, 1, DDL_FLOAT32, DDL_SUM) == DDL_ERROR_USAGE, "no context");
  require(says("the ddl_context is NULL"), "what is said of it");
  require(ddl_allocate(nullptr, 4) == nullptr && ddl_size(nullptr) == -1, "no context to ask");
  ddl_free(nullptr, nullptr);
  require(ddl_init(&argc, &argv, nullptr, nullptr) == DDL_ERROR_USAGE, "nowhere to put it");
  ddl_context* ddl = nullptr;
  if (ddl_init(&argc, &argv, "-timeout 5", &ddl) != 0) {
    std::printf("%s\n", ddl_last_error());
    return 1;
  }
  if (argc > 1 && std::strcmp(argv[1], "abandon") == 0) return abandon(ddl, argc > 2 ? argv[2] : nullptr);
  if (argc > 1) {  // other sizes on other ranks: after it the context is of no use
    require(ddl_allocate(ddl, ddl_rank(ddl) == 0 ? 4000 : 4004) == nullptr, "other sizes");
    std::printf("%s\n", ddl_last_error());
    require(ddl_barrier(ddl) == DDL_ERROR_MISMATCH, "a call after it");
    require(ddl_finalize(ddl) == DDL_ERROR_MISMATCH, "the end after it");
    require(says("allocate #1"), "the first error at the end");
    return 1;
  }
  // More than /dev/shm has, than a machine has, and than a number of bytes can say.
  for (const std::size_t bytes : {std::size_t{1} << 45, std::size_t{1} << 60, SIZE_MAX}) {
    require(ddl_allocate(ddl, bytes) == nullptr, "memory that no machine has");
    require(says("cannot allocate "), "what is said of it");
  }
  require(ddl_all_reduce(ddl, nullptr, 4, DDL_FLOAT32, DDL_SUM) == DDL_ERROR_USAGE, "NULL");
  require(says("4 numbers at NULL"), "what is said of it");
  require(ddl_all_reduce(ddl, nullptr, 0, DDL_FLOAT32, DDL_SUM) == 0, "nothing at NULL");
  float few[4] = {};
  require(ddl_start_all_reduce(ddl, few, 4, DDL_FLOAT32, DDL_SUM, nullptr) == DDL_ERROR_USAGE, "no handle");
  require(says("the handle argument is NULL"), "what is said of it");
  require(ddl_all_reduce(ddl, few, SIZE_MAX, DDL_FLOAT32, DDL_SUM) == DDL_ERROR_USAGE, "too many numbers");
  auto* numbers = static_cast<float*>(ddl_allocate(ddl, 1000 * sizeof(float)));
  require(numbers != nullptr, "memory");
  if (numbers != nullptr) {
    for (int i = 0; i < 1000; ++i) numbers[i] = static_cast<float>(i + ddl_rank(ddl));
    require(ddl_all_reduce(ddl, numbers, 1000, DDL_FLOAT32, DDL_SUM) == 0, "a sum");
    const int size = ddl_size(ddl);
    for (int i = 0; i < 1000; ++i) {
      const auto sum = static_cast<float>(size * i + size * (size - 1) / 2);
      if (numbers[i] != sum) require(false, "the sum's value");
    }
    ddl_free(ddl, numbers);
    int64_t least = ddl_rank(ddl) - 5;
    uint8_t threes = 3;
    require(ddl_all_reduce(ddl, &least, 1, DDL_INT64, DDL_MIN) == 0 && least == -5, "the least");
    require(ddl_all_reduce(ddl, &threes, 1, DDL_UINT8, DDL_PRODUCT) == 0, "a product");
    require(threes == (size == 1 ? 3 : size == 2 ? 9 : 27), "the product's value");
    const int rank = ddl_rank(ddl);
    int32_t sum = rank + 1;
    require(ddl_reduce(ddl, &sum, 1, DDL_INT32, DDL_SUM, size - 1) == 0, "a sum at one rank");
    require(sum == (rank == size - 1 ? size * (size + 1) / 2 : rank + 1), "its value");
    int32_t all[3] = {};
    int32_t part = 10 * rank;
    require(ddl_gather(ddl, &part, rank == 0 ? all : nullptr, 1, DDL_INT32, 0) == 0, "gather");
    require(rank != 0 || (all[0] == 0 && all[size - 1] == 10 * (size - 1)), "what is gathered");
    part = -1;
    require(ddl_scatter(ddl, rank == 0 ? all : nullptr, &part, 1, DDL_INT32, 0) == 0, "scatter");
    require(part == 10 * rank, "what is scattered");
    require(ddl_scatter(ddl, all, &part, 1, DDL_INT32, size) == DDL_ERROR_USAGE, "no such root");
    ddl_handle* handle = nullptr;
    require(ddl_start_reduce(ddl, &part, 1, DDL_INT32, DDL_MAX, 0, &handle) == 0 && ddl_wait(handle) == 0,
            "a started reduce");
    require(ddl_done(nullptr) == 1, "nothing is complete");
    require(ddl_start_broadcast(ddl, &part, 1, DDL_INT32, 0, &handle) == 0, "a start of broadcast");
    require(ddl_barrier(ddl) == 0 && ddl_done(handle) == 1, "it is complete before a blocking call");
    require(ddl_wait(handle) == 0 && part == 10 * (size - 1), "a started broadcast");
    require(ddl_all_reduce(ddl, &least, 1, DDL_INT64, DDL_AVERAGE) == DDL_ERROR_USAGE, "an average");
    require(says("int64 cannot be averaged"), "what is said of it");
    require(ddl_all_reduce(ddl, &threes, 1, static_cast<ddl_type>(DDL_UINT8 + 1), DDL_SUM) == DDL_ERROR_USAGE,
            "an unknown type");
    require(ddl_all_reduce(ddl, &threes, 1, DDL_UINT8, static_cast<ddl_operation>(DDL_PRODUCT + 1)) ==
                DDL_ERROR_USAGE,
            "an unknown operation");
    require(says("unknown operation 5"), "what is said of it");
  }
  require(ddl_finalize(ddl) == 0, "the end");
  if (failures == 0) std::printf("all is refused or summed\n");
  return failures == 0 ? 0 : 1;
}
