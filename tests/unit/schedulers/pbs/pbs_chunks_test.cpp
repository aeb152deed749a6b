// SPDX-License-Identifier: MIT
#include "schedulers/job/scheduler.hpp"
#include "tests/unit/schedulers/recorded.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace ddlrun;
using namespace ddlrun::schedulers;
using tests::answered;
using tests::FakeAsk;
using tests::recorded_file;

TEST_SUITE_BEGIN("schedulers/pbs/pbs_chunks");

// OpenPBS 23.06 on hosts of 68 ncpus: "Can Never Run" only where all hosts together have too little.
TEST_CASE("a chunk that no host can hold is never run") {
  const auto waits = [](const std::string& select, const std::string& resource, const std::string& nodes,
                        const std::string& place = "free") {
    const bool is_never = resource.find("(R: ") != std::string::npos;
    const std::string job = R"({"Jobs":{"7.s":{"job_state":"Q","queue":"normal","comment":")" +
                            std::string(is_never ? "Can Never Run" : "Not Running") +
                            ": Insufficient amount of resource: " + resource +
                            R"( ","Resource_List":{"place":")" + place + R"(","select":")" + select +
                            R"("}}}})";
    const FakeAsk ask{{{"qstat", answered(job)}, {"pbsnodes -a -F json", answered(nodes)}}};
    return make_scheduler(SchedulerKind::pbs)->read_states(std::vector<JobId>{"7"}, ask).at("7");
  };
  const std::string hosts = recorded_file("pbs/20_pbsnodes.json");
  const JobStatus never = waits("1:ncpus=69:mpiprocs=1", "ncpus", hosts);
  CHECK(never.never);
  CHECK(never.state == JobState::queued);
  CHECK(never.explained ==
        "it can never run: a chunk requests 69 ncpus, no host of its queue has more than 68");
  CHECK_FALSE(never.remedy.empty());
  CHECK(waits("4:ncpus=4+ncpus=100", "ncpus", hosts).never);
  CHECK(waits("2:ncpus=4:ngpus=1", "ngpus", hosts).never);
  CHECK(waits("1:ncpus=4:mem=9tb", "mem", hosts).never);
  // PBS's own numbers are those of a host here, and of all hosts there.
  CHECK(waits("1:ncpus=69", "ncpus (R: 69 A: 68 T: 68)", hosts, "scatter:excl").explained ==
        "it can never run: a chunk requests 69 ncpus, no host of its queue has more than 68");
  CHECK(waits("5:ncpus=68", "ncpus (R: 340 A: 272 T: 272)", hosts).explained ==
        "it can never run: 5 chunks of 68 ncpus, the hosts of its queue have 272 in all");
  CHECK(waits("5:ncpus=68", "ncpus (R: 340 A: 272 T: 272)", "").explained ==
        "it requests 340 ncpus, more than the 272 of a host, or of all hosts: it would wait forever");
  CHECK(waits("2:mem=200gb", "mem (R: 400gb A: 1mb T: 1mb)", hosts).never);
  for (const auto& [select, resource] : {std::pair{"4:ncpus=68", "ncpus"},
                                         {"1:ncpus=4:mem=1gb", "mem"},
                                         {"1:ncpus=x", "ncpus"},
                                         {"1:ncpus=4:host=h1", "host"}})
    CHECK_FALSE(waits(select, resource, hosts).never);
  for (const char* silent : {"", "{", R"({"nodes":{}})"})
    CHECK_FALSE(waits("1:ncpus=69", "ncpus", silent).never);
  // Vnodes of one host are taken together; nodes of another queue do not count.
  const auto vnode = [](const char* name, const char* host, int cores, const char* more) {
    return std::string("\"") + name + R"(":{"resources_available":{"host":")" + host + R"(","ncpus":)" +
           std::to_string(cores) + "}" + more + "}";
  };
  const std::string parts = R"({"nodes":{)" + vnode("h[0]", "h", 40, "") + "," + vnode("h[1]", "h", 40, "") +
                            "," + vnode("g", "g", 500, R"(,"queue":"gpu")") + "}}";
  CHECK_FALSE(waits("1:ncpus=69", "ncpus", parts).never);
  CHECK(waits("1:ncpus=81", "ncpus", parts).never);
  // All of a chunk must be on one host, and with scatter each chunk needs a host of its own.
  const std::string mixed = R"({"nodes":{)" + vnode("a", "a", 64, "") + "," + vnode("b", "b", 64, "") +
                            R"(,"c":{"resources_available":{"host":"c","ncpus":16,"ngpus":4}}}})";
  CHECK(waits("1:ncpus=64:ngpus=4", "ngpus", mixed).explained ==
        "it can never run: no host of its queue has all that a chunk requests: 64 ncpus, 4 ngpus");
  CHECK_FALSE(waits("1:ncpus=16:ngpus=4", "ngpus", mixed).never);
  CHECK(waits("3:ncpus=40:mpiprocs=4", "ncpus", mixed, "scatter:excl").explained ==
        "it can never run: 3 chunks of 40 ncpus on a host each, and 2 hosts of its queue can hold one");
  CHECK_FALSE(waits("2:ncpus=40", "ncpus", mixed, "scatter:excl").never);
  CHECK_FALSE(waits("3:ncpus=20", "ncpus", mixed).never);  // two of them share a host
  const std::string own =
      R"({"nodes":{)" + vnode("a", "a", 2, R"(,"queue":"normal")") + "," + vnode("b", "b", 68, "") + "}}";
  CHECK(waits("1:ncpus=4", "ncpus", own).never);
  // Of vnodes without a host each is one.
  const char* hostless =
      R"({"nodes":{"a":{"resources_available":{"ncpus":40}},"b":{"resources_available":{"ncpus":40}}}})";
  CHECK(waits("1:ncpus=69", "ncpus", hostless).never);
}

TEST_SUITE_END();
