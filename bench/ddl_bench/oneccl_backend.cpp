// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/oneccl_backend.hpp"

#include "base/text/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace ddlrun::ddl_bench {
namespace {

// oneapi/ccl.h and oneapi/ccl/v2/types.h of oneCCL 2022.1.
struct UniqueId {
  std::array<char, 4096> data{};
};
using Comm = void*;
constexpr int ccl_sum = 0;

int ccl_type(ddl::DataType type) {
  switch (type) {
    case ddl::DataType::float64:
      return 8;
    case ddl::DataType::float16:
      return 6;
    case ddl::DataType::bfloat16:
      return 9;
    case ddl::DataType::int32:
      return 2;
    case ddl::DataType::int64:
      return 4;
    case ddl::DataType::uint8:
      return 1;
    case ddl::DataType::float32:
      break;
  }
  return 7;
}

struct Library {
  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(Comm*, std::size_t, UniqueId, int) = nullptr;
  int (*all_reduce)(void*, void*, std::size_t, int, int, Comm, void*) = nullptr;
  const char* (*error_string)(int) = nullptr;
  std::string obstacle;
};

template <typename Function>
void find_function(void* library, const char* name, Function& function, std::string& obstacle) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && obstacle.empty()) obstacle = fmt::format("libccl.so.2 lacks {}", name);
}

// The plug-in for memory of the host lies beside the library; by itself oneCCL takes one that needs a GPU.
void choose_cpu_plugin(void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return;
  const std::string path = info.dli_fname;
  const std::string plugin = path.substr(0, path.rfind('/') + 1) + "libccl_legacy_cpu.so";
  if (access(plugin.c_str(), R_OK) == 0)
    setenv("CCL_PLUGIN", plugin.c_str(), 0);  // NOLINT(concurrency-mt-unsafe): before any thread of oneCCL
}

Library load_oneccl() {
  Library found;
  void* const library = dlopen("libccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one for each thread
    found.obstacle = why == nullptr ? "libccl.so.2 cannot be loaded" : why;
    return found;
  }
  find_function(library, "onecclGetVersion", found.get_version, found.obstacle);
  find_function(library, "onecclGetUniqueId", found.get_unique_id, found.obstacle);
  find_function(library, "onecclCommInitRank", found.init_rank, found.obstacle);
  find_function(library, "onecclAllReduce", found.all_reduce, found.obstacle);
  find_function(library, "onecclGetErrorString", found.error_string, found.obstacle);
  if (found.obstacle.empty()) choose_cpu_plugin(reinterpret_cast<void*>(found.get_unique_id));
  return found;
}

void check(const Library& ccl, int result, const char* what) {
  if (result == 0) return;
  throw Error(ErrorKind::request, {fmt::format("{} of oneCCL failed: {}", what, ccl.error_string(result)),
                                   "--backends oneccl", "CCL_LOG_LEVEL=info, for its own reasons"});
}

class OneCclCase : public Case {
 public:
  OneCclCase(const Library& ccl, Comm comm, ddl::DataType type, std::size_t bytes)
      : ccl_(ccl), comm_(comm), type_(type), in_(bytes), out_(bytes) {}
  std::string how() const override { return "out of place"; }
  std::span<std::byte> input() override { return in_; }
  std::span<const std::byte> output() override { return out_; }
  void call() override {
    check(ccl_,
          ccl_.all_reduce(in_.data(), out_.data(), in_.size() / ddl::size_of(type_), ccl_type(type_), ccl_sum,
                          comm_, nullptr),
          "onecclAllReduce");
  }

 private:
  const Library& ccl_;
  Comm comm_;
  ddl::DataType type_;
  std::vector<std::byte> in_, out_;
};

}  // namespace

OneCclBackend connect_oneccl(World& world, ddl::DataType type) {
  static const Library ccl = load_oneccl();
  for (const std::string& obstacle : world.gather(ccl.obstacle))
    if (!obstacle.empty()) return {std::nullopt, "no oneccl: " + obstacle};
  UniqueId id;
  std::string error;
  if (world.rank() == 0)
    if (const int result = ccl.get_unique_id(&id); result != 0)
      error = fmt::format("no oneccl: its start failed: {}", ccl.error_string(result));
  error = world.gather(error).front();
  if (!error.empty()) return {std::nullopt, error};
  const std::string of_first =
      world.gather(world.rank() == 0 ? std::string(id.data.begin(), id.data.end()) : std::string()).front();
  std::memcpy(id.data.data(), of_first.data(), std::min(of_first.size(), id.data.size()));
  Comm comm = nullptr;
  check(ccl, ccl.init_rank(&comm, static_cast<std::size_t>(world.size()), id, world.rank()),
        "onecclCommInitRank");
  int version = 0;
  check(ccl, ccl.get_version(&version), "onecclGetVersion");
  Backend backend{"oneccl", Roofline::sums, [comm, type](std::size_t bytes) {
                    std::vector<std::unique_ptr<Case>> cases;
                    cases.push_back(std::make_unique<OneCclCase>(ccl, comm, type, bytes));
                    return cases;
                  }};
  return {std::move(backend), fmt::format("oneCCL {}.{}", version / 10000, version / 100 % 100)};
}

}  // namespace ddlrun::ddl_bench
