// SPDX-License-Identifier: MIT
// Batches are the same whatever threads make them; errors and ends arrive where they belong.
#include "runtime/data/loader.hpp"

#include "runtime/data/dataset.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <set>
#include <thread>

namespace ddlrun::runtime {
namespace {

// Image i is full of i; `bad` cannot be read.
class NumberedSource : public ImageSource {
 public:
  std::size_t count() const override { return 250; }
  Shape shape() const override { return {1, 6, 5}; }
  Label label(std::size_t index) const override { return static_cast<Label>(index % 7); }
  void read(std::size_t index, std::span<std::byte> out) const override {
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    reads += 1;
    if (index >= bad) throw Error(ErrorKind::request, {"cannot be read", name(index), "ls"});
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(index + i);
  }
  std::string name(std::size_t index) const override { return "image " + std::to_string(index); }
  std::uint64_t fingerprint() const override { return 1; }

  std::size_t bad = SIZE_MAX;
  bool slow = false;
  mutable std::atomic<int> reads = 0;
};

class SpanCounter : public TraceSink {
 public:
  void span(TraceLane lane, std::string_view name, TraceClock::time_point begin, TraceClock::time_point end,
            std::uint64_t) override {
    if (lane == TraceLane::input && begin <= end) (name == "load" ? loads : waits) += 1;
  }
  std::atomic<int> loads = 0;
  std::atomic<int> waits = 0;
};

std::vector<std::uint32_t> indices_of_step(std::size_t step, std::size_t count) {
  std::vector<std::uint32_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = static_cast<std::uint32_t>((step * 83 + i * 17) % 250);
  return indices;
}

const Transform shaking{{4, 3}, true, {3.0F}, {0.5F}};

struct Epoch {
  std::vector<float> images;
  std::vector<Label> labels;
};

Epoch load_steps(const NumberedSource& source, int threads, std::size_t first = 0) {
  Epoch epoch;
  Loader loader(source, shaking, LoadPurpose::training, 40, {.threads = threads});
  const std::size_t steps = 9;
  loader.prefetch(indices_of_step(first, 40), {7, first});
  for (std::size_t step = first; step < steps; ++step) {
    CHECK(loader.ahead());
    const LoadedBatch batch = loader.take();
    const std::size_t next = step + 1 == 8 ? 11 : 40;  // a batch need not be full
    if (step + 1 < steps) loader.prefetch(indices_of_step(step + 1, next), {7, step + 1});
    CHECK(batch.waited_seconds >= 0.0);
    CHECK(batch.images.size() == batch.labels.size() * 12);
    epoch.images.insert(epoch.images.end(), batch.images.begin(), batch.images.end());
    epoch.labels.insert(epoch.labels.end(), batch.labels.begin(), batch.labels.end());
  }
  CHECK_FALSE(loader.ahead());
  return epoch;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/data/loader");

// namespace

TEST_CASE("loader: any number of threads gives the same batches, in the order in which they were requested") {
  const NumberedSource source;
  const Epoch alone = load_steps(source, 0);
  REQUIRE(alone.labels.size() == 8 * 40 + 11);
  for (std::size_t i = 0; i < 40; ++i) CHECK(alone.labels[i] == indices_of_step(0, 40)[i] % 7);
  for (const int threads : {-1, 1, 2, 5}) {
    const Epoch other = load_steps(source, threads);
    CHECK(other.images == alone.images);
    CHECK(other.labels == alone.labels);
  }
  const Epoch resumed = load_steps(source, 2, 5);
  CHECK(std::equal(resumed.images.begin(), resumed.images.end(),
                   alone.images.end() - static_cast<std::ptrdiff_t>(resumed.images.size())));
}

TEST_CASE("loader: an image is the same on whatever rank and in whatever place of the batch") {
  const NumberedSource source;
  const std::uint32_t whole[] = {5, 9, 200, 31};
  const std::uint32_t half[] = {200, 31};
  Loader one(source, shaking, LoadPurpose::training, 4);
  Loader two(source, shaking, LoadPurpose::training, 2);
  one.prefetch(whole, {1, 4});
  two.prefetch(half, {1, 4});
  const LoadedBatch all = one.take();
  const LoadedBatch mine = two.take();
  CHECK(std::equal(mine.images.begin(), mine.images.end(), all.images.begin() + 24));
}

TEST_CASE("loader: testing takes the middle and never mirrors") {
  const NumberedSource source;
  const std::uint32_t one[] = {10};
  Loader loader(source, shaking, LoadPurpose::testing, 1);
  loader.prefetch(one, {1, 1});
  const LoadedBatch batch = loader.take();
  // Row 1, column 1 of 6x5 is pixel 6: value 16.
  CHECK(batch.images[0] == (16.0F - 3.0F) * 0.5F);
  CHECK(batch.images[1] == (17.0F - 3.0F) * 0.5F);
  CHECK(batch.images[3] == (21.0F - 3.0F) * 0.5F);
}

TEST_CASE("loader: take() throws what the threads met, of the first image, and goes on") {
  for (const int threads : {0, 1, 3}) {
    NumberedSource source;
    source.bad = 100;
    Loader loader(source, {}, LoadPurpose::training, 8, {.threads = threads});
    const std::uint32_t some[] = {3, 4, 120, 5, 110, 6, 101, 7};
    const std::uint32_t good[] = {1, 2};
    loader.prefetch(some, {});
    const Message message = expect_error(ErrorKind::request, "cannot be read", [&] { loader.take(); });
    CHECK(message.where == "image 120");
    loader.prefetch(good, {});
    CHECK(loader.take().labels[1] == 2);
  }
}

TEST_CASE("loader: it ends without reading what no rank waits for") {
  NumberedSource source;
  source.slow = true;
  {
    Loader loader(source, {}, LoadPurpose::training, 200, {.threads = 2});
    std::vector<std::uint32_t> many(200);
    std::iota(many.begin(), many.end(), 0U);
    loader.prefetch(many, {});
  }
  CHECK(source.reads < 100);
}

TEST_CASE("loader: wrong uses and wrong transforms are refused") {
  const NumberedSource source;
  const std::vector<std::uint32_t> five(5, 1);
  Loader loader(source, {}, LoadPurpose::training, 4);
  expect_error(ErrorKind::internal, "without prefetch", [&] { loader.take(); });
  expect_error(ErrorKind::internal, "batch size is not supported", [&] { loader.prefetch(five, {}); });
  expect_error(ErrorKind::internal, "batch size is not supported", [&] { loader.prefetch({}, {}); });
  loader.prefetch(std::span(five).first(2), {});
  expect_error(ErrorKind::internal, "without take()", [&] { loader.prefetch(std::span(five).first(2), {}); });
  expect_error(ErrorKind::request, "a crop of 7x3 does not fit into images of 6x5", [&] {
    Loader(source, {{7, 3}, false, {}, {1.0F}}, LoadPurpose::training, 4);
  });
}

TEST_CASE("loader: reports its spans") {
  const NumberedSource source;
  SpanCounter spans;
  {
    Loader loader(source, {}, LoadPurpose::training, 10, {.threads = 1, .trace = &spans});
    loader.prefetch(indices_of_step(0, 10), {});
    loader.take();
  }
  CHECK(spans.loads > 0);
  CHECK(spans.waits == 1);
}

TEST_CASE(
    "data shard: ranks of subsets take equal pieces, and the subset that is used up first ends the epoch") {
  const Subset first{100, 11, 2, "h1"};
  const Subset second{45, 6, 1, "h2"};
  const Subsets ranks[] = {{{first, second}, 0, 0}, {{first, second}, 0, 1}, {{first, second}, 1, 0}};
  std::set<std::uint32_t> seen[2];
  for (const Subsets& split : ranks) {
    DataShard shard(split, 30, 4);
    CHECK(shard.local_batch() == 10);
    CHECK(shard.steps_per_epoch() == 4);  // 100 / 20 = 5, 45 / 10 = 4
    CHECK(shard.train_images() == 145);
    CHECK(shard.test_images() == 17);
    CHECK(shard.dropped_images() == 145 - 4 * 30);
    for (std::size_t step = 0; step < 4; ++step) {
      for (const std::uint32_t index : shard.step(0, step)) {
        CHECK(index < split.subsets[split.subset].train_images);
        CHECK(seen[split.subset].insert(index).second);
      }
    }
  }
  CHECK(seen[0].size() == 80);
  CHECK(seen[1].size() == 40);
  CHECK(DataShard(ranks[1], 30, 4).test_range().begin == 6);
  CHECK(DataShard(ranks[2], 30, 4).test_range().end == 6);
  const Subsets small{{first, {8, 1, 1, "h2"}}, 0, 0};
  const Message message =
      expect_error(ErrorKind::request, "this subset has 8 training images", [&] { DataShard(small, 30, 4); });
  CHECK(message.where == "h2");
  CHECK(message.hint == "--global-batch 24");
}

TEST_CASE(
    "data shard: without subsets as before: the images of a step are the same for any number of ranks") {
  const Subset all{103, 20, 4, ""};
  for (std::size_t step = 0; step < 5; ++step) {
    std::vector<std::uint32_t> joined;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      DataShard shard({{all}, 0, rank}, 20, 9);
      const auto mine = shard.step(2, step);
      joined.insert(joined.end(), mine.begin(), mine.end());
    }
    DataShard alone({{{103, 20, 1, ""}}, 0, 0}, 20, 9);
    const auto one = alone.step(2, step);
    CHECK(joined == std::vector<std::uint32_t>(one.begin(), one.end()));
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
