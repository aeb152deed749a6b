// SPDX-License-Identifier: MIT
// Every kind of layer, with its settings, against finite differences of the reference; state, masks and
// arena.
#include "runtime/engine/cpu/memory_planner.hpp"
#include "tests/unit/runtime/engine/engine_checks.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr auto max = PoolMethod::max;
constexpr auto average = PoolMethod::average;

Layer grouped(int outputs, int kernel, int groups) {
  Layer layer = convolution(outputs, kernel, 1);
  layer.groups = groups;
  return layer;
}
Layer dilated(int height, int width) {
  Layer layer = convolution(3, 3, 1);
  layer.dilation = {height, width};
  return layer;
}
Layer leaky(double slope) {
  Layer layer = relu();
  layer.slope = slope;
  return layer;
}
Layer unbiased(Layer layer) {
  layer.bias = false;
  return layer;
}
Layer rectangular() {
  Layer layer = convolution(3, 3);
  layer.kernel = {2, 4};
  layer.stride = {1, 2};
  layer.padding = {0, 1};
  return layer;
}

struct GradientRow {
  const char* name;
  Shape input;
  std::vector<Layer> layers;
};

}  // namespace
TEST_SUITE_BEGIN("runtime/engine/cpu/layers");

// namespace

TEST_CASE("engine: gradients of convolutions with strides, padding, groups, without bias") {
  const GradientRow rows[] = {
      {"stride", {2, 9, 8}, {convolution(3, 3, 1, 2), linear(4)}},
      {"stride that leaves pixels out", {1, 10, 11}, {convolution(2, 3, 0, 3), linear(3)}},
      {"rectangular", {2, 6, 9}, {rectangular(), linear(3)}},
      {"groups", {4, 5, 5}, {grouped(6, 3, 2), relu(), grouped(9, 3, 3), linear(3)}},
      {"depthwise", {4, 6, 6}, {grouped(4, 3, 4), linear(3)}},
      {"sixteens in groups", {1, 6, 6}, {convolution(32, 3), relu(), grouped(32, 3, 2), linear(3)}},
      {"dilated", {2, 8, 9}, {dilated(2, 2), relu(), dilated(1, 3), linear(3)}},
      {"leaky", {2, 6, 6}, {convolution(3, 3), leaky(0.1), linear(8), leaky(0.01), linear(4)}},
      {"leaky after a pooling",
       {2, 8, 8},
       {convolution(3, 3), pool(average, 2, 2, 0, Rounding::floor), leaky(0.2), linear(4)}},
      {"leaky with two readers",
       {2, 6, 6},
       {convolution(3, 3, 1), named("leak", leaky(0.3)), named("a", convolution(3, 3, 1)), sum({"leak", "a"}),
        linear(4)}},
      {"without bias", {2, 6, 6}, {unbiased(convolution(3, 3)), relu(), unbiased(linear(4))}},
      {"convolution after rows", {1, 3, 3}, {linear(8), relu(), convolution(5, 1), linear(3)}},
  };
  for (const GradientRow& row : rows) check_gradients(make_net(row.name, row.input, row.layers), 2);
}

TEST_CASE("engine: gradients of poolings, whole and hanging windows") {
  const auto down = Rounding::floor;
  const auto up = Rounding::ceil;
  const auto net = [](const char* name, int side, Layer pooling) {
    check_gradients(make_net(name, {1, side, side}, {convolution(3, 3, 1), std::move(pooling), linear(4)}),
                    2);
  };
  net("max over", 9, pool(max, 3, 2, 0, down));
  net("max ceil", 8, pool(max, 3, 2, 0, up));
  net("max padded", 8, pool(max, 3, 2, 1, down));
  net("max padded ceil", 9, pool(max, 2, 2, 1, up));
  net("average", 8, pool(average, 2, 2, 0, down));
  net("average leaves pixels out", 9, pool(average, 3, 4, 0, down));
  net("average ceil", 8, pool(average, 3, 2, 0, up));
  net("average padded", 7, pool(average, 3, 2, 1, down));
  net("average padded ceil", 8, pool(average, 3, 2, 1, up));
  net("average global", 7, global_pool(average));
  net("max global", 7, global_pool(max));
  check_gradients(
      make_net("logits from a pooling", {2, 5, 5}, {convolution(4, 3), relu(), global_pool(average)}), 3);
}

TEST_CASE("engine: gradients of LRN, batch norm and dropout") {
  check_gradients(make_net("lrn", {1, 5, 5}, {convolution(7, 3), lrn(5, 0.7, 0.75), linear(4)}), 2);
  check_gradients(
      make_net("lrn of 3", {1, 5, 5}, {convolution(32, 3), relu(), lrn(3, 1.3, 0.5, 2.0), linear(3)}), 2);
  check_gradients(make_net("norm", {1, 5, 5}, {convolution(4, 3), batch_norm(), relu(), linear(3)}), 4);
  check_gradients(make_net("norm of 16", {2, 4, 4}, {convolution(16, 3), batch_norm(), linear(3)}), 3);
  check_gradients(make_net("norm not affine", {1, 4, 4}, {convolution(5, 3), batch_norm(false), linear(3)}),
                  3);
  check_gradients(make_net("norm of images", {3, 4, 4}, {batch_norm(), linear(3)}), 3);
  check_gradients(make_net("norm of rows", {1, 3, 3}, {linear(6), batch_norm(), relu(), linear(3)}), 5);
  check_gradients(make_net("dropout", {1, 4, 4}, {linear(20), dropout(0.4), relu(), linear(4)}), 3);
  check_gradients(make_net("dropout of images", {1, 5, 5}, {convolution(6, 3), dropout(0.3), linear(4)}), 2);
}

TEST_CASE("engine: gradients of graphs: sums, concatenations, outputs with several readers") {
  check_gradients(make_net("residual", {2, 6, 6},
                           {named("a", convolution(4, 3, 1)), named("r", relu()),
                            named("b", convolution(4, 3, 1)), sum({"b", "r"}), relu(), linear(3)}),
                  2);
  check_gradients(make_net("three ways", {1, 5, 5},
                           {named("a", convolution(4, 3, 1)), named("b", {"a"}, convolution(4, 1)),
                            named("c", {"a"}, convolution(4, 3, 1)), sum({"a", "b", "c"}), linear(3)}),
                  2);
  check_gradients(
      make_net("twice the same", {1, 4, 4}, {named("a", convolution(3, 3)), sum({"a", "a"}), linear(3)}), 2);
  check_gradients(
      make_net("inception", {3, 6, 6},
               {named("a", {"data"}, convolution(5, 1)), named("b", {"data"}, convolution(16, 3, 1)),
                named("c", {"b"}, relu()), concat({"a", "c", "data"}), relu(), linear(3)}),
      2);
  check_gradients(make_net("rows joined", {1, 3, 3},
                           {named("a", {"data"}, linear(4)), named("b", {"data"}, linear(3)),
                            concat({"a", "b"}), linear(3)}),
                  3);
  check_gradients(make_net("rows summed", {1, 3, 3},
                           {named("a", {"data"}, linear(4)), named("b", {"data"}, convolution(4, 3)),
                            sum({"a", "b"}), sum({"sum3"}), relu(), linear(3)}),
                  3);
  check_gradients(
      make_net("norm and sum", {1, 6, 6},
               {named("a", convolution(4, 3, 1)), batch_norm(), named("r", relu()), convolution(4, 3, 1),
                named("n", batch_norm()), sum({"n", "r"}), relu(), global_pool(average), linear(3)}),
      4);
}

TEST_CASE("engine: batch norm keeps running values in training and uses them in evaluation") {
  const Net net = make_net("norm", {2, 4, 4}, {named("n", batch_norm()), linear(3)});
  std::vector<float> parameters = make_parameters(net);
  std::vector<float> gradients(parameters.size());
  const Sample sample = make_sample(net, 5);
  const auto engine = make_cpu_engine(net, 5, parameters, gradients);
  REQUIRE(engine->state().size() == 4);
  const auto moments = reference::moments_of(net.input, {sample.images.begin(), sample.images.end()}, 5);
  engine->train_batch(sample.images, sample.labels, 1.0F);
  for (std::size_t c = 0; c < 2; ++c) {  // 0.9 of the start, 0.1 of the batch; variance of 80 values by 79
    CHECK(engine->state()[c] == doctest::Approx(0.1 * moments.mean[c]).epsilon(1e-4));
    CHECK(engine->state()[2 + c] ==
          doctest::Approx(0.9 + 0.1 * moments.variance[c] * 80.0 / 79.0).epsilon(1e-4));
  }
  const std::vector<double> exact(parameters.begin(), parameters.end());
  const std::vector<double> state(engine->state().begin(), engine->state().end());
  CHECK(engine->evaluate(sample.images, sample.labels).loss ==
        doctest::Approx(reference::loss(net, sample.images, sample.labels, {exact, state, {}, false}))
            .epsilon(1e-5));
}

TEST_CASE("engine: dropout's masks are those of their step, and none in evaluation") {
  const Net net = make_net("drop", {1, 4, 4}, {linear(50), dropout(0.5), linear(3)});
  std::vector<float> parameters = make_parameters(net);
  std::vector<float> gradients(parameters.size());
  const Sample sample = make_sample(net, 4);
  const auto engine = make_cpu_engine(net, 4, parameters, gradients);
  const auto loss_of = [&](StepKey key) {
    engine->start_step(key);
    return engine->train_batch(sample.images, sample.labels, 1.0F).loss;
  };
  const double first = loss_of({1, 1, 0});
  CHECK(loss_of({1, 2, 0}) != first);
  CHECK(loss_of({1, 1, 1}) != first);
  CHECK(loss_of({2, 1, 0}) != first);
  CHECK(loss_of({1, 1, 0}) == first);
  const std::vector<double> exact(parameters.begin(), parameters.end());
  CHECK(engine->evaluate(sample.images, sample.labels).loss ==
        doctest::Approx(reference::loss(net, sample.images, sample.labels, {exact, {}, {}, false}))
            .epsilon(1e-5));
}

TEST_CASE("dropout: as many values as asked, and no pattern along a row") {
  for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
    std::size_t kept = 0;
    std::size_t pairs = 0;
    constexpr std::size_t count = 200'000;
    const std::uint64_t key = dropout_key({7, 3, 2}, 5);
    for (std::size_t i = 0; i < count; ++i) {
      const bool keep = dropout_keeps(key, i, dropout_limit(rate));
      kept += keep ? 1U : 0U;
      pairs += keep && dropout_keeps(key, i + 1, dropout_limit(rate)) ? 1U : 0U;
    }
    CAPTURE(rate);
    CHECK(static_cast<double>(kept) / count == doctest::Approx(1.0 - rate).epsilon(0.02));
    CHECK(static_cast<double>(pairs) / count == doctest::Approx((1.0 - rate) * (1.0 - rate)).epsilon(0.05));
  }
}

TEST_CASE("room: what lives at the same time lies apart") {
  Random random(9);
  std::vector<cpu::BufferLifetime> lifetimes;
  std::size_t bytes = 0;
  for (int i = 0; i < 200; ++i) {
    const std::size_t first = random.below(100);
    lifetimes.push_back({1 + random.below(100'000), first, first + random.below(10)});
    bytes += lifetimes.back().bytes;
  }
  lifetimes.push_back({1'000'000, SIZE_MAX, 0});  // never used
  const cpu::MemoryPlan plan = cpu::plan_memory(lifetimes);
  CHECK(plan.bytes < bytes / 4);
  for (std::size_t a = 0; a < 200; ++a) {
    REQUIRE(plan.offsets[a] + lifetimes[a].bytes <= plan.bytes);
    for (std::size_t b = 0; b < a; ++b) {
      if (lifetimes[a].last < lifetimes[b].first || lifetimes[b].last < lifetimes[a].first) continue;
      const bool apart = plan.offsets[a] + lifetimes[a].bytes <= plan.offsets[b] ||
                         plan.offsets[b] + lifetimes[b].bytes <= plan.offsets[a];
      REQUIRE(apart);
    }
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
