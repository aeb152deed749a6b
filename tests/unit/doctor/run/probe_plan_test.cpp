// SPDX-License-Identifier: MIT
#include "doctor/run/probe_plan.hpp"

#include "doctor/model/job.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

using Names = std::vector<std::string>;

ProbePlanOptions options_for(Names hosts) {
  ProbePlanOptions options;
  options.hosts = std::move(hosts);
  options.is_this_host = [](const std::string& host) { return host == "h1"; };
  options.driver_host_name = "login1";
  return options;
}

Names numbered(const std::string& name, int count) {
  Names names;
  for (int i = 0; i < count; ++i) names.push_back(name + std::to_string(i));
  return names;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/run/probe_plan");

TEST_CASE("one request a host, in order, and the last for the driver host") {
  Job job;
  job.ranks_of_host = {{"h1", 4}, {"h2", 2}};
  job.ranks = 6;
  job.workdir = "/work";
  job.environment["TMPDIR"] = "/scratch/tmp";
  job.hostfile_path = "hosts.txt";
  job.rankfile_path = "job.rf";
  const auto requests = plan_probe_requests(job, options_for({"h1", "h2"}));
  REQUIRE(requests.size() == 3);
  CHECK(requests[0].host == "h1");
  CHECK(requests[0].is_driver_host);
  CHECK(requests[0].ranks_here == 4);
  CHECK(requests[0].temporary_dir == "/scratch/tmp");
  CHECK(requests[0].workdir == "/work");
  CHECK(requests[0].own_files.empty());
  CHECK(requests[1].ranks_here == 2);
  CHECK_FALSE(requests[1].is_driver_host);
  CHECK(requests[2].host == "login1");
  CHECK(requests[2].is_driver_host);
  CHECK(requests[2].ranks_here == 0);
  CHECK(requests[2].own_files == Names{"hosts.txt", "job.rf"});
  auto without = options_for({"h1", "h2"});
  without.include_driver_host = false;
  CHECK(plan_probe_requests(job, without).size() == 2);
}

TEST_CASE("a TMPDIR that PBS made is looked at on this host only") {
  Job job;
  job.environment["TMPDIR"] = "/tmp/pbs.1.node1";
  job.has_tmpdir_of_scheduler = true;
  const auto requests = plan_probe_requests(job, options_for({"h1", "h2"}));
  CHECK(requests[0].temporary_dir == "/tmp/pbs.1.node1");
  CHECK(requests[1].temporary_dir == "");
}

TEST_CASE("each name of the job is resolved once, wherever it occurs") {
  Job job;
  job.allocation = {"h2", "ib2"};
  job.ranks_of_host = {{"h1", 1}, {"h9", 1}};
  const auto requests = plan_probe_requests(job, options_for({"h1", "h2"}));
  CHECK(requests[0].names == Names{"h1", "h2", "ib2", "h9"});
  CHECK(requests[2].names == requests[0].names);
}

TEST_CASE("above 512 names each host resolves the same 128, spread over all; the driver host all") {
  Job job;
  auto requests = plan_probe_requests(job, options_for(numbered("n", 512)));
  CHECK(requests[0].names.size() == 512);
  requests = plan_probe_requests(job, options_for(numbered("n", 4096)));
  CHECK(requests[0].names.size() == 128);
  CHECK(std::set<std::string>(requests[0].names.begin(), requests[0].names.end()).size() == 128);
  CHECK(requests[0].names.front() == "n0");
  CHECK(requests[0].names.back() == "n4064");
  CHECK(requests[4095].names == requests[0].names);
  CHECK(requests[4096].names.size() == 4096);
}

TEST_CASE("probes of the network are planned from level full on") {
  Job job;
  auto options = options_for({"h1", "h2", "h3"});
  const auto quick = plan_probe_requests(job, options);
  options.level = Level::full;
  const auto full = plan_probe_requests(job, options);
  CHECK(quick[0].peers.empty());
  CHECK_FALSE(full[0].peers.empty());
  CHECK_FALSE(full[0].probe_ports.empty());
  for (const ProbeRequest& request : full) CHECK(request.level == Level::full);
}

TEST_SUITE_END();
