// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile.hpp"
#include "topology/rankfile/rankfile_names.hpp"

#include "base/text/error.hpp"
#include "tests/support/machines.hpp"
#include "topology/rankfile/formats.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::topology;
using namespace ddlrun::rankfile;

namespace {

Plan plan_of(const char* dims, std::vector<std::string> hosts, const MachineTopology& machine,
             const PlanOptions& options = {}) {
  std::vector<std::uint32_t> machines(hosts.size(), 0);
  return plan_job(parse_dims(dims), std::move(hosts), {machine}, std::move(machines), options);
}

const MachineTopology minsky = regular_machine(2, 10, 8, "m");

}  // namespace

TEST_SUITE_BEGIN("topology/rankfile/rankfile");

TEST_CASE("names that Open MPI cuts, folds or dies on are refused") {
  struct Row {
    const char* name;
    std::vector<std::string> hosts;
    bool good;
  };
  const Row rows[] = {
      {"plain", {"h1", "h2"}, true},
      {"IPv4", {"10.1.1.1", "10.1.1.2"}, true},
      {"FQDNs that differ", {"a.example.org", "b.example.org"}, true},
      {"FQDNs that fold", {"a.example.org", "a.example.com"}, false},
      {"FQDN and its short form", {"a.example.org", "a"}, false},
      {"underscore", {"h_1", "h2"}, false},
      {"keyword", {"rank", "h2"}, false},
      {"keyword slots", {"h1", "slots"}, false},
      {"leading zeros", {"007", "h2"}, false},
      {"digits", {"12", "h2"}, true},
      {"digit and dot", {"1a.x.org", "h2"}, false},
      {"digit, no dot", {"1a", "h2"}, true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Plan plan = plan_of("4x2", row.hosts, minsky);
    if (row.good)
      CHECK_NOTHROW(render_rankfile(plan, {"0", ""}));
    else
      CHECK_THROWS_AS(render_rankfile(plan, {"0", ""}), Error);
  }
}

TEST_CASE("Open MPI's 64-byte line: short name first, then a refusal with the count") {
  const std::string domain = ".compute.cluster.example.org";
  const std::string name(20, 'n');
  const auto wide = tests::with_gpus(regular_machine(4, 4, 1, "m"), {});
  CHECK(rankfile_names(plan_of("1", {name + domain}, wide))[0] == name);  // 48 + 6 + 23 > 63
  CHECK(rankfile_names(plan_of("4", {name + domain}, wide))[0] == name + domain);
  try {
    rankfile_names(plan_of("1", {std::string(50, 'n')}, wide));
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.message().what.find("50 bytes + 6 + slots of 23 bytes = 79") != std::string::npos);
  }
  for (std::size_t length = 1; length < 80; ++length) {
    const Plan plan = plan_of("4", {std::string(length, 'n')}, minsky);  // slots of 5 bytes
    CAPTURE(length);
    if (length + 6 + 5 <= 63)
      CHECK_NOTHROW(rankfile_names(plan));
    else
      CHECK_THROWS_AS(rankfile_names(plan), Error);
  }
}

TEST_CASE("the first line names ddlrun, and carries a time only when it is asked to") {
  const Plan plan = plan_of("4", {"h1"}, minsky);
  CHECK(render_rankfile(plan, {"1.2", ""}).starts_with("#by ddlrun 1.2 gen-rankfile\n#dims = 4x1x1\n"));
  CHECK(render_rankfile(plan, {"1.2", "2017-09-14 04:45:51"})
            .starts_with("#2017-09-14 04:45:51 by ddlrun 1.2\n"));
}

TEST_CASE("an assumed machine is said in the header") {
  MachineTopology machine = minsky;
  machine.assumed = true;
  machine.source = "assumed 2x10, not probed";
  const std::string text = render_rankfile(plan_of("4", {"h1"}, machine), {"0", ""});
  CHECK(text.find("\n#topology = assumed 2x10, not probed\n") != std::string::npos);
}

TEST_CASE("hosts that differ get their own slots") {
  const Plan plan = plan_job({2, 2, 1, 1}, {"big", "small"},
                             {regular_machine(2, 10, 1, "b"), regular_machine(1, 4, 2, "s")}, {0, 1}, {});
  const std::string text = render_rankfile(plan, {"0", ""});
  CHECK(text.find("rank 0=big           slot=0:0-9\nrank 2=big           slot=1:0-9\n") != std::string::npos);
  CHECK(text.find("rank 1=small           slot=0:0-1\nrank 3=small           slot=0:2-3\n") !=
        std::string::npos);
  CHECK(text.find("#sockets = 2|1\n#cores = 10|4\n") != std::string::npos);
}

TEST_CASE("masks are what the processors say") {
  CHECK(render_mask({{0}, {1}, {2}, {3}, {4}}) == "0x1f");
  CHECK(render_mask({{5}, {6}, {7}, {8}, {9}}) == "0x3e0");
  CHECK(render_mask({{64}}) == "0x10000000000000000");
  CHECK(render_mask({{0}, {127}}) == "0x80000000000000000000000000000001");
}

TEST_CASE("other launchers get the same plan in their words, or a refusal where they have none") {
  const MachineTopology machine = regular_machine(2, 2, 1, "m");
  const Plan interleaved = plan_of("2x2", {"h1", "h2"}, machine);
  PlanOptions packed_options;
  packed_options.order = RankOrder::packed;
  const Plan packed = plan_of("2x2", {"h1", "h2"}, machine, packed_options);
  CHECK(find_format("ompi5").render(interleaved, {"0", ""}) ==
        "#by ddlrun 0 for Open MPI 5: mpirun --map-by rankfile:file=FILE -n 4 PROGRAM\n"
        "rank 0=h1 slot=0:0-1\nrank 1=h2 slot=0:0-1\nrank 2=h1 slot=1:0-1\nrank 3=h2 slot=1:0-1\n");
  CHECK(find_format("slurm").render(interleaved, {"0", ""}) ==
        "#by ddlrun 0: SLURM_HOSTFILE=FILE srun -n 4 --distribution=arbitrary --cpu-bind=mask_cpu:0x3,0xc "
        "PROGRAM\n"
        "h1\nh2\nh1\nh2\n");
  CHECK_THROWS_AS(find_format("intel").render(interleaved, {"0", ""}), Error);
  CHECK_THROWS_AS(find_format("mpich").render(interleaved, {"0", ""}), Error);
  CHECK(find_format("intel").render(packed, {"0", ""}) ==
        "#by ddlrun 0: I_MPI_PIN_DOMAIN='[0x3,0xc]' mpirun -machinefile FILE -n 4 PROGRAM\nh1:2\nh2:2\n");
  CHECK(find_format("mpich").render(packed, {"0", ""}) ==
        "#by ddlrun 0: mpiexec.hydra -f FILE -bind-to user:0+1,2+3 -n 4 PROGRAM\nh1:2\nh2:2\n");
  CHECK_THROWS_AS(find_format("slrum"), Error);
  const Plan unlike =
      plan_job({2, 2, 1, 1}, {"a", "b"}, {machine, regular_machine(1, 8, 1, "x")}, {0, 1}, packed_options);
  CHECK_THROWS_AS(find_format("slurm").render(unlike, {"0", ""}), Error);
}

// PRRTE 3.0.8 starts nothing where a rankfile has "ib1" and the daemon of that host reports "node1".
TEST_CASE("hosts by their own names, unless one claims what is another host's") {
  using Names = std::map<std::string, std::string>;
  CHECK(own_rankfile_names({"ib1", "ib2"}, {"node1", "node2.cluster"}) ==
        Names{{"ib1", "node1"}, {"ib2", "node2"}});
  CHECK(own_rankfile_names({"node1", "ib2"}, {"node1.cluster", "node2"}) == Names{{"ib2", "node2"}});
  CHECK(own_rankfile_names({"node1.cluster", "ib2"}, {"node1", ""}).empty());
  CHECK(own_rankfile_names({"ib1", "ib2"}, {}).empty());
  for (const char* claimed : {"ib2", "node2", "no de", "$(id)", "-x"}) {
    CAPTURE(claimed);
    CHECK(own_rankfile_names({"ib1", "ib2"}, {claimed, "node2"}).empty());
  }
  CHECK(rename_rankfile_hosts("#host = ib1,ib2\n\nrank 0=ib1   slot=0:0\nrank 1=ib2 slot=0:1\nrank 2=ib11 slot=0\n",
                              {{"ib1", "node1"}, {"ib2", "n2"}}) ==
        "#host = ib1,ib2\n\nrank 0=node1   slot=0:0\nrank 1=n2 slot=0:1\nrank 2=ib11 slot=0\n");
}

TEST_SUITE_END();
