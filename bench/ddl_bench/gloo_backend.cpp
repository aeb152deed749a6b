// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/gloo_backend.hpp"

#include <fmt/format.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/types.h>

#include <limits>
#include <map>

namespace ddlrun::ddl_bench {
namespace {

using GlooContext = std::shared_ptr<gloo::Context>;

// Every rank sets as many keys in the same order, so each set can be a gathering of all ranks' and no get
// waits.
class GatheredStore : public gloo::rendezvous::Store {
 public:
  explicit GatheredStore(World& world) : world_(world) {}
  void set(const std::string& key, const std::vector<char>& data) override {
    const auto keys = world_.gather(key);
    const auto values = world_.gather(std::string(data.begin(), data.end()));
    for (std::size_t i = 0; i < keys.size(); ++i) values_[keys[i]].assign(values[i].begin(), values[i].end());
  }
  std::vector<char> get(const std::string& key) override { return values_.at(key); }
  void wait(const std::vector<std::string>&) override {}

 private:
  World& world_;
  std::map<std::string, std::vector<char>> values_;
};

using GlooMemory = std::shared_ptr<std::vector<std::byte>>;

class GlooCase : public Case {
 public:
  GlooCase(std::string how, GlooMemory memory, std::unique_ptr<gloo::Algorithm> algorithm)
      : how_(std::move(how)), memory_(std::move(memory)), algorithm_(std::move(algorithm)) {}
  std::string how() const override { return how_; }
  std::span<std::byte> input() override { return *memory_; }
  std::span<const std::byte> output() override { return *memory_; }
  void call() override { algorithm_->run(); }

 private:
  std::string how_;
  GlooMemory memory_;
  std::unique_ptr<gloo::Algorithm> algorithm_;
};

template <typename Number>
std::vector<std::unique_ptr<Case>> make_gloo_variants(const GlooContext& context, std::size_t bytes) {
  std::vector<std::unique_ptr<Case>> cases;
  if (bytes / sizeof(Number) > static_cast<std::size_t>(std::numeric_limits<int>::max())) return cases;
  const auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  const std::vector<Number*> data{reinterpret_cast<Number*>(memory->data())};
  const int count = static_cast<int>(bytes / sizeof(Number));
  const auto add = [&](const char* how, std::unique_ptr<gloo::Algorithm> algorithm) {
    cases.push_back(std::make_unique<GlooCase>(how, memory, std::move(algorithm)));
  };
  add("ring", std::make_unique<gloo::AllreduceRing<Number>>(context, data, count));
  add("chunked ring", std::make_unique<gloo::AllreduceRingChunked<Number>>(context, data, count));
  add("halving doubling", std::make_unique<gloo::AllreduceHalvingDoubling<Number>>(context, data, count));
  const bool power_of_two = (context->size & (context->size - 1)) == 0;
  if (power_of_two) add("bcube", std::make_unique<gloo::AllreduceBcube<Number>>(context, data, count));
  return cases;
}

std::vector<std::unique_ptr<Case>> make_gloo(const GlooContext& context, ddl::DataType type,
                                             std::size_t bytes) {
  switch (type) {
    case ddl::DataType::float64:
      return make_gloo_variants<double>(context, bytes);
    case ddl::DataType::int32:
      return make_gloo_variants<std::int32_t>(context, bytes);
    case ddl::DataType::int64:
      return make_gloo_variants<std::int64_t>(context, bytes);
    case ddl::DataType::uint8:
      return make_gloo_variants<std::uint8_t>(context, bytes);
    case ddl::DataType::float16:
      return make_gloo_variants<gloo::float16>(context, bytes);
    case ddl::DataType::float32:
    case ddl::DataType::bfloat16:
      break;
  }
  return make_gloo_variants<float>(context, bytes);
}

// Gloo takes the store by reference, and since 2025 by shared_ptr.
template <typename Context, typename Store, typename Device>
void connect_full_mesh(Context& context, const std::shared_ptr<Store>& store, Device& device) {
  if constexpr (requires { context.connectFullMesh(store, device); })
    context.connectFullMesh(store, device);
  else
    context.connectFullMesh(*store, device);
}

GlooBackend connect_by_tcp(World& world, ddl::DataType type, bool one_host, const std::string& interface) {
  if (type == ddl::DataType::bfloat16) return {std::nullopt, "no Gloo: it has no bfloat16"};
  if (world.size() == 1) return {std::nullopt, "no Gloo: it needs two ranks"};
  std::string trouble;
  std::shared_ptr<gloo::transport::Device> device;
  try {
    gloo::transport::tcp::attr place;
    place.iface = one_host ? "lo" : interface;
    device = gloo::transport::tcp::CreateDevice(place);
  } catch (const std::exception& error) {
    trouble = error.what();
  }
  for (const std::string& one : world.gather(trouble))
    if (!one.empty()) return {std::nullopt, "no Gloo: " + one.substr(0, 160)};
  const auto store = std::make_shared<GatheredStore>(world);
  const auto context = std::make_shared<gloo::rendezvous::Context>(world.rank(), world.size());
  context->setTimeout(std::chrono::seconds(60));
  connect_full_mesh(*context, store, device);
  const GlooContext connected = context;
  return {Backend{"gloo", Roofline::sums,
                  [connected, type](std::size_t bytes) { return make_gloo(connected, type, bytes); }},
          "Gloo over TCP"};
}

}  // namespace
}  // namespace ddlrun::ddl_bench

extern "C" {

const char* ddl_bench_gloo_build() { return DDL_BENCH_GLOO_BUILD; }

// Both sides are of one build, so a C++ type may cross.
ddlrun::ddl_bench::GlooBackend ddl_bench_connect_gloo(ddlrun::ddl_bench::World& world, ddl::DataType type,
                                                      bool one_host, const std::string& interface) {
  return ddlrun::ddl_bench::connect_by_tcp(world, type, one_host, interface);
}

}  // extern "C"
