// SPDX-License-Identifier: MIT
// What ranks are reported when one of them calls something else, stays away or leaves, with threads for
// ranks.
#include "ddl/api/context_factory.hpp"
#include "ddl/ddl.hpp"
#include "ddl/transport/transport.hpp"
#include "tests/support/thread_contexts.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>

TEST_SUITE_BEGIN("ddl/api/context_faults");

namespace {

using ddl::Context;
using ddl::Operation;
using ddl::Options;
using ddl::tests::packed_hosts;
using ddl::tests::run_contexts;

// One rank, which finds no shared memory.
class FailingTransport : public ddl::Transport {
 public:
  explicit FailingTransport(std::string& ends) : ends_(ends) {}
  ~FailingTransport() override { ends_ += "ended "; }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  std::string host_name() const override { return "h"; }
  std::unique_ptr<ddl::NodeComm> make_node_comm(const ddl::Grid&) override {
    throw ddl::Error(ddl::Fault::unsupported, "no shared memory", "", "df -h /dev/shm");
  }
  std::vector<std::unique_ptr<ddl::PeerComm>> make_level_comms(const ddl::Grid&, double) override {
    return {};
  }
  std::unique_ptr<ddl::PeerComm> make_global_comm(const ddl::Grid&, double) override { return nullptr; }
  std::unique_ptr<ddl::Transport> split(const ddl::SplitPlan&) override { return nullptr; }
  bool native_all_reduce(const std::byte*, std::byte*, std::size_t, ddl::DataType, ddl::Operation) override {
    return false;
  }
  void abandon() noexcept override { ends_ += "abandoned "; }

 private:
  std::string& ends_;
};

}  // namespace

TEST_CASE("a start that fails on this rank waits for no other rank before the program has the error") {
  std::string ends;
  CHECK_THROWS_AS(ddl::ContextFactory::make(std::make_unique<FailingTransport>(ends), {}), ddl::Error);
  CHECK(ends == "abandoned ended ");
}

TEST_CASE("ranks that differ are reported which, and no one waits forever") {
  struct Row {
    std::string what;
    std::vector<std::string> hosts;
    std::function<void(Context&)> odd;  // what rank 1 does; the others sum 100 float32
    std::string says;
  };
  const auto sum_100 = [](Context& ddl) {
    std::vector<float> values(100, 1.0F);
    ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::sum);
  };
  const std::vector<Row> rows = {
      {"another size on one host", packed_hosts(1, 3),
       [](Context& ddl) {
         std::vector<float> values(101, 1.0F);
         ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::sum);
       },
       "rank 1"},
      {"another size on another host", packed_hosts(3, 1),
       [](Context& ddl) {
         std::vector<float> values(101, 1.0F);
         ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::sum);
       },
       "rank"},
      {"another operation", packed_hosts(3, 1),
       [](Context& ddl) {
         std::vector<float> values(100, 1.0F);
         ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::max);
       },
       "rank"},
      {"a product", packed_hosts(1, 2),
       [](Context& ddl) {
         std::vector<float> values(100, 1.0F);
         ddl.all_reduce(ddl::tensor(std::span(values), "conv2"), Operation::product);
       },
       "all_reduce #1 (product) of 100 float32 \"conv2\", rank 0 (h0) calls all_reduce #1 (sum) of 100 "
       "float32 \"conv1\""},
      {"does not come", packed_hosts(1, 2),
       [](Context&) { std::this_thread::sleep_for(std::chrono::milliseconds(1500)); },
       "rank 1 (h0) has not come to all_reduce #1 (sum) of 100 float32 \"conv1\" within 1 s"},
      {"goes away", packed_hosts(2, 1), [](Context&) {}, "rank 1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    std::mutex mutex;
    std::vector<std::string> reported;
    Options options;
    options.timeout_seconds = 1.0;
    CHECK_THROWS_AS(run_contexts(row.hosts, options,
                                 [&](Context& ddl) {
                                   try {
                                     if (ddl.rank() == 1) return row.odd(ddl);
                                     sum_100(ddl);
                                     const std::lock_guard lock(mutex);
                                     reported.push_back("nothing");
                                   } catch (const ddl::Error& error) {
                                     const std::lock_guard lock(mutex);
                                     reported.push_back(std::string(error.what()) + " at " + error.where());
                                     CHECK(!error.hint().empty());
                                     throw;
                                   }
                                 }),
                    ddl::Error);
    CHECK(!reported.empty());
    for (const std::string& text : reported) {
      CAPTURE(text);
      CHECK(text.find(row.says) != std::string::npos);
    }
  }
}

TEST_CASE("a rank that leaves is reported at once, by an exception of its own or in order") {
  for (const bool throws : {true, false}) {
    CAPTURE(throws);
    Options options;
    options.timeout_seconds = 60.0;
    const auto start = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::vector<std::string> reported;
    const auto work = [&](Context& ddl) {
      if (ddl.rank() == 1 && throws) throw std::runtime_error("cannot open part-1.bin");
      if (ddl.rank() == 1) return;
      try {
        ddl.barrier();
      } catch (const ddl::Error& error) {
        const std::lock_guard lock(mutex);
        reported.emplace_back(error.what());
        throw;
      }
    };
    CHECK_THROWS(run_contexts(packed_hosts(1, 3), options, work));
    REQUIRE(reported.size() == 2);
    const std::string says =
        throws ? "an exception ended the Context of rank 1 (h0)" : "rank 1 (h0) makes no more calls";
    CHECK(reported[0].find(says) != std::string::npos);
    CHECK(reported[1] == reported[0]);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  }
}

TEST_CASE("hosts of several ranks: the call is reported as the program made it") {
  std::mutex mutex;
  std::vector<std::string> reported;
  const auto work = [&](Context& ddl) {
    std::vector<float> values(ddl.rank() == 1 ? 101 : 100, 1.0F);
    try {
      ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::sum);
    } catch (const ddl::Error& error) {
      const std::lock_guard lock(mutex);
      if (ddl.host() == 0) reported.emplace_back(error.what());
      throw;
    }
  };
  CHECK_THROWS_AS(run_contexts(packed_hosts(2, 2), {}, work), ddl::Error);
  const std::string says =
      "rank 1 (h0) calls all_reduce #1 (sum) of 101 float32 \"conv1\", "
      "rank 0 (h0) calls all_reduce #1 (sum) of 100 float32 \"conv1\"";
  CHECK(reported == std::vector<std::string>(2, says));
}

namespace {

using CallId = std::function<void(Context&)>;

// Every call of a Context, with the name that messages give it, and what they add where two calls differ.
struct NamedCall {
  std::string name;
  std::string detail;
  std::string tensor;
  CallId call;
  std::string described() const {  // the detail stands behind the number
    std::string text = name;
    return text.insert(text.find("#1") + 2, detail) + tensor;
  }
};
std::vector<NamedCall> every_call() {
  static std::vector<float> small(6);
  static std::vector<float> large(12);
  static const ddl::Tensor tensor = ddl::tensor(std::span(large), "v");
  static const ddl::Tensor part = ddl::tensor(std::span(small), "w");
  const Context::Update update = [](std::size_t, std::size_t, const std::byte*) {};
  return {
      {"barrier #1", "", "", [](Context& ddl) { ddl.barrier(); }},
      {"broadcast #1 of 12 float32", " (root 0)", " \"v\"", [](Context& ddl) { ddl.broadcast(tensor, 0); }},
      {"all_reduce #1 of 12 float32", " (sum)", " \"v\"",
       [](Context& ddl) { ddl.all_reduce(tensor, Operation::sum); }},
      {"all_reduce_n #1 of 12 float32", " (sum)", " \"v\"",
       [](Context& ddl) { ddl.all_reduce_n(std::span(&tensor, 1), Operation::sum); }},
      {"all_reduce_update #1 of 12 float32", " (sum)", " \"v\"",
       [update](Context& ddl) { ddl.all_reduce_update(tensor, Operation::sum, update); }},
      {"reduce_scatter #1 of 12 float32", " (sum)", " \"v\"",
       [](Context& ddl) { ddl.reduce_scatter(tensor, part, Operation::sum); }},
      {"all_gather #1 of 6 float32", "", " \"w\"", [](Context& ddl) { ddl.all_gather(part, tensor); }},
      {"gather #1", "", "", [](Context& ddl) { ddl.gather("mine"); }},
      {"verify_tensors #1", "", "", [](Context& ddl) { ddl.verify_tensors(std::span(&tensor, 1)); }},
      {"allocate #1 of 40 bytes", "", "", [](Context& ddl) { ddl.allocate<float>(10); }},
  };
}

// What each of two ranks of one host is reported; "" where nothing.
std::vector<std::string> messages_of_two(const CallId& first, const CallId& second, const Options& options) {
  std::vector<std::string> reported(2);
  const auto work = [&](Context& ddl) {
    try {
      (ddl.rank() == 0 ? first : second)(ddl);
    } catch (const ddl::Error& error) {
      reported[static_cast<std::size_t>(ddl.rank())] = error.what();
      throw;
    }
  };
  CHECK_THROWS(run_contexts(packed_hosts(1, 2), options, work));
  return reported;
}

}  // namespace

TEST_CASE("two different calls: both ranks are reported both by the names that the program gave them") {
  const std::vector<NamedCall> calls = every_call();
  for (const NamedCall& first : calls) {
    for (const NamedCall& second : calls) {
      if (first.name == second.name) continue;
      CAPTURE(first.name);
      CAPTURE(second.name);
      Options options;
      options.timeout_seconds = 20.0;
      const std::vector<std::string> reported = messages_of_two(first.call, second.call, options);
      CHECK(reported[0] ==
            "rank 1 (h0) calls " + second.described() + ", rank 0 (h0) calls " + first.described());
      CHECK(reported[1] == reported[0]);
    }
  }
}

TEST_CASE("a rank that stays away is missed in whatever is called") {
  for (const NamedCall& each : every_call()) {
    Options options;
    options.timeout_seconds = 0.2;
    const auto sleeps = [](Context&) { std::this_thread::sleep_for(std::chrono::milliseconds(700)); };
    CHECK(messages_of_two(each.call, sleeps, options)[0] ==
          "rank 1 (h0) has not come to " + each.described() + " within 0.2 s");
  }
}

TEST_CASE("an update that throws ends the call of all, from any memory") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    Options options;
    options.timeout_seconds = 20.0;
    std::string reported;
    const auto work = [&](Context& ddl) {
      ddl::Buffer<float> buffer = ddl.allocate<float>(100);
      std::vector<float> values(100, 1.0F);
      const ddl::Tensor tensor = shared ? ddl::Tensor(buffer) : ddl::tensor(std::span(values));
      try {
        ddl.all_reduce_update(tensor, Operation::sum, [&](std::size_t, std::size_t, const std::byte*) {
          if (ddl.rank() == 1) throw std::runtime_error("no momentum");
        });
      } catch (const ddl::Error& error) {
        reported = error.what();
        throw;
      }
    };
    CHECK_THROWS(run_contexts(packed_hosts(1, 2), options, work));
    CHECK(reported.find("rank 1 (h0) failed in ") == 0);
    CHECK(reported.find(": no momentum") != std::string::npos);
  }
}

TEST_CASE("what no call can take is refused, and the next call is made") {
  ddl::Context alone = ddl::ContextFactory::make(ddl::make_single_process_transport(), Options{});
  std::vector<float> values(4, 1.0F);
  const ddl::Tensor good = ddl::tensor(std::span(values), "conv1");
  const auto with = [&](std::size_t count, int type) {
    ddl::Tensor odd = good;
    odd.count = count;
    odd.type = static_cast<ddl::DataType>(type);
    return odd;
  };
  const ddl::Tensor null{nullptr, 5, ddl::DataType::float32, "conv1"};
  const std::string most = "18446744073709551615 float32 exceed any memory";
  const std::vector<std::pair<ddl::Tensor, std::string>> rows = {
      {with(SIZE_MAX, 0), most},
      {with((std::size_t{1} << 62) + 4, 0), "4611686018427387908 float32 exceed any memory"},
      {with(std::size_t{1} << 63, 3), "9223372036854775808 bfloat16 exceed any memory"},
      {with(4, 17), "unknown type 17"},
      {null, "5 float32 at a null address"},
  };
  for (const auto& [odd, says] : rows) {
    CAPTURE(says);
    const ddl::Tensor pair[] = {good, odd};
    CHECK_THROWS_WITH_AS(alone.all_reduce(odd, Operation::sum), says.c_str(), ddl::Error);
    CHECK_THROWS_WITH_AS(alone.all_reduce_n(pair, Operation::sum), says.c_str(), ddl::Error);
    CHECK_THROWS_WITH_AS(alone.broadcast(odd, 0), says.c_str(), ddl::Error);
    CHECK_THROWS_WITH_AS(alone.reduce_scatter(odd, good, Operation::sum), says.c_str(), ddl::Error);
    CHECK_THROWS_WITH_AS(alone.reduce_scatter(good, odd, Operation::sum), says.c_str(), ddl::Error);
    CHECK_THROWS_WITH_AS(alone.all_gather(odd, good), says.c_str(), ddl::Error);
    CHECK_THROWS_WITH_AS(alone.all_gather(good, odd), says.c_str(), ddl::Error);
    CHECK_THROWS_WITH_AS(alone.start_all_reduce(odd, Operation::sum).wait(), says.c_str(), ddl::Error);
  }
  const ddl::Tensor odd_type[] = {with(4, 7)};
  CHECK_THROWS_WITH_AS(alone.verify_tensors(odd_type), "unknown type 7", ddl::Error);
  CHECK_THROWS_WITH_AS(alone.all_reduce(good, static_cast<Operation>(9)), "unknown operation 9", ddl::Error);
  CHECK_THROWS_WITH_AS(alone.all_reduce_update(good, Operation::sum, nullptr),
                       "all_reduce_update has no update function", ddl::Error);
  CHECK_THROWS_AS(alone.start_all_reduce_update(good, Operation::sum, nullptr).wait(), ddl::Error);
  CHECK_NOTHROW(alone.all_reduce(good, Operation::sum));
  std::vector<std::int64_t> wide(1);
  std::vector<std::uint8_t> bytes(1);
  CHECK_THROWS_WITH_AS(alone.all_reduce(wide, Operation::average), "int64 cannot be averaged", ddl::Error);
  CHECK_THROWS_WITH_AS(alone.all_reduce(bytes, Operation::average), "uint8 cannot be averaged", ddl::Error);
  CHECK(values == std::vector<float>(4, 1.0F));
}

TEST_CASE("a call that one rank alone was refused does not count") {
  run_contexts(packed_hosts(1, 2), {}, [](Context& ddl) {
    std::vector<float> values(4, 1.0F);
    std::vector<std::int32_t> numbers(1);
    const ddl::Tensor mixed[] = {ddl::tensor(values), ddl::tensor(numbers)};
    if (ddl.rank() == 0) {
      CHECK_THROWS_AS(ddl.broadcast(ddl::tensor(values), 7), ddl::Error);
      CHECK_THROWS_AS(ddl.start_broadcast(ddl::tensor(values), -1).wait(), ddl::Error);
      CHECK_THROWS_AS(ddl.all_reduce_n(mixed, Operation::average), ddl::Error);
    }
    CHECK_NOTHROW(ddl.barrier());
    CHECK_NOTHROW(ddl.all_reduce(ddl::tensor(values), Operation::sum));
    CHECK(values[3] == 2.0F);
  });
}

TEST_CASE("broadcasts with two roots are reported between hosts") {
  std::mutex mutex;
  std::vector<std::string> reported;
  const auto work = [&](Context& ddl) {
    std::vector<float> values(4, static_cast<float>(ddl.rank()));
    try {
      ddl.broadcast(ddl::tensor(values), ddl.rank());
    } catch (const ddl::Error& error) {
      const std::lock_guard lock(mutex);
      reported.emplace_back(error.what());
      CHECK(error.fault() == ddl::Fault::mismatch);
      throw;
    }
  };
  CHECK_THROWS_AS(run_contexts(packed_hosts(2, 1), {}, work), ddl::Error);
  CHECK(reported.size() == 2);
}

TEST_CASE("two operations of all_reduce_n are reported between hosts") {
  const auto work = [&](Context& ddl) {
    std::vector<float> values(4, 1.0F);
    const ddl::Tensor tensors[] = {ddl::tensor(values)};
    ddl.all_reduce_n(tensors, ddl.rank() == 0 ? Operation::sum : Operation::max);
  };
  CHECK_THROWS_AS(run_contexts(packed_hosts(2, 1), {}, work), ddl::Error);
}

TEST_CASE("a deadline that never comes is refused") {
  for (const double seconds : {0.0, -1.0, 1e300, 86401.0, std::nan("")}) {
    CAPTURE(seconds);
    Options options;
    options.timeout_seconds = seconds;
    CHECK_THROWS_AS(ddl::ContextFactory::make(ddl::make_single_process_transport(), options), ddl::Error);
  }
}

TEST_CASE("a tensor at a null address is refused") {
  ddl::Context alone = ddl::ContextFactory::make(ddl::make_single_process_transport(), Options{});
  ddl::Tensor nothing{nullptr, 5, ddl::DataType::float32, "conv1"};
  CHECK_THROWS_WITH_AS(alone.all_reduce(nothing, Operation::sum), "5 float32 at a null address", ddl::Error);
  CHECK_THROWS_AS(alone.broadcast(nothing, 0), ddl::Error);
  nothing.count = 0;
  CHECK_NOTHROW(alone.all_reduce(nothing, Operation::sum));
}

TEST_SUITE_END();
