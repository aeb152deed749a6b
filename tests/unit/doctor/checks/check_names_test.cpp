// SPDX-License-Identifier: MIT
// The checks of names: each verdict, and the remedies as they are typed.
#include "doctor/model/check.hpp"
#include "doctor/parse/interfaces.hpp"
#include "doctor/parse/names.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/doctor_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::doctor;
using ddlrun::tests::DoctorInput;
using ddlrun::tests::find_one;
using ddlrun::tests::only;
using ddlrun::tests::run_check;

namespace {

// A host as four plain ones answer: node1 to node4 on 10.1.1.0/24, ib1 to ib4 on 10.9.1.0/24.
void fill(HostReport& host, int i) {
  host.facts.set("name.host", "node" + std::to_string(i));
  host.facts.set("name.boot_id", "boot-" + std::to_string(i));
  std::vector<std::string> table{"localhost 127.0.0.1", "nowhere ! Name or service not known"};
  for (int k = 1; k <= 4; ++k) {
    table.push_back("node" + std::to_string(k) + " 10.1.1." + std::to_string(k));
    table.push_back("ib" + std::to_string(k) + " 10.9.1." + std::to_string(k));
  }
  host.facts.set_list("name.table", table);
  host.facts.set("name.left_out", 0);
  const std::string n = std::to_string(i);
  host.facts.set_list("net.interfaces", {"lo up loopback mtu=65536 addr=127.0.0.1/8",
                                         "eth0 up mtu=1500 mac=02:e0:" + n + " addr=10.1.1." + n + "/24",
                                         "ib0 up mtu=1500 mac=02:1b:" + n + " addr=10.9.1." + n + "/24"});
}

DoctorInput four_hosts() {
  DoctorInput input;
  for (int i = 1; i <= 4; ++i) fill(input.add("node" + std::to_string(i)), i);
  fill(input.driver_host, 1);
  return input;
}

void replace_row(HostReport& host, const std::string& name, const std::string& row) {
  std::vector<std::string> table;
  for (const std::string_view line : host.facts.list("name.table")) {
    if (!line.starts_with(name + " ")) table.emplace_back(line);
  }
  if (!row.empty()) table.push_back(row);
  host.facts.set_list("name.table", table);
}

void give_rankfile(DoctorInput& input, const std::vector<std::string>& hosts,
                   const std::vector<std::string>& allocation, const std::string& source = "hostfile hosts") {
  for (std::size_t i = 0; i < hosts.size(); ++i)
    input.job.rankfile_text += "rank " + std::to_string(i) + "=" + hosts[i] + " slot=0:0\n";
  input.job.rankfile_path = "job.rf";
  input.job.hostfile_path = "hosts";
  input.job.allocation = allocation;
  input.job.allocation_source = source;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_names");

TEST_CASE("a healthy job: every check of names passes or reports what it lacks") {
  const DoctorInput input = four_hosts();
  for (const Check& check : name_checks()) {
    CAPTURE(check.id);
    for (const Finding& finding : check.run(input.get())) {
      CAPTURE(finding.observed);
      CHECK((finding.verdict == Verdict::pass || finding.verdict == Verdict::skip));
    }
  }
  for (const char* id : {"NAME-01", "NAME-03", "NAME-04", "NAME-05", "NAME-07", "MPI-04", "NET-01"})
    CHECK(only(run_check(id, input)).verdict == Verdict::pass);
}

TEST_CASE("hosts that reported nothing are a skip with the reason, never an alarm") {
  DoctorInput input;
  input.add("node1").facts.set_unknown("name.table", "no answer within 13 s");
  input.add("node2");
  for (const Check& check : name_checks()) {
    CAPTURE(check.id);
    for (const Finding& finding : check.run(input.get()))
      CHECK((finding.verdict == Verdict::skip || check.id == "NAME-05" || check.id == "NAME-08"));
  }
}

TEST_CASE("NAME-01: a name that leads nowhere, and the line that teaches it") {
  DoctorInput input = four_hosts();
  replace_row(input.host("node2"), "node3", "node3 ! Name or service not known");
  const auto findings = run_check("NAME-01", input);
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].verdict == Verdict::fail);
  CHECK(findings[1].hosts == std::vector<std::string>{"node2"});
  CHECK(findings[1].remedy.commands ==
        std::vector<std::string>{"printf '%s\\n' '10.1.1.3 node3' >> /etc/hosts"});
  CHECK(findings[1].remedy.needs_root);
  CHECK(findings[1].remedy.note == "resolved so by the driver host");
  input.job.allocation = {"nowhere"};
  const auto all = run_check("NAME-01", input);
  CHECK(all.front().verdict == Verdict::fail);
  CHECK(all.front().remedy.note.find("nowhere") != std::string::npos);
  CHECK(all.front().remedy.commands.empty());
  CHECK_FALSE(all.front().remedy.needs_root);
}

TEST_CASE("NAME-01: a name that the driver host cannot resolve, though the hosts can") {
  DoctorInput input = four_hosts();
  replace_row(input.driver_host, "node3", "node3 ! Name or service not known");
  input.host("node3").reach.problem = "Could not resolve hostname node3";
  const auto findings = run_check("NAME-01", input);
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].verdict == Verdict::fail);
  CHECK(findings[1].hosts == std::vector<std::string>{"node3"});
  CHECK(findings[1].remedy.on_driver_host);
  CHECK(findings[1].remedy.commands ==
        std::vector<std::string>{"printf '%s\\n' '10.1.1.3 node3' >> /etc/hosts"});
  input.host("node1").reach.via = Via::local;  // the driver host is one of the hosts and reports it there
  CHECK(run_check("NAME-01", input).size() == 1);
  input.host("node1").reach.via = Via::ssh;
  for (const char* host : {"node2", "node3", "node4"}) replace_row(input.host(host), "node3", "");
  const Finding alone = find_one(run_check("NAME-01", input), Verdict::fail);
  CHECK(alone.remedy.commands.empty());
  CHECK(alone.remedy.note == "check, then add to /etc/hosts: 10.1.1.3 node3 (reported by node1 only)");
}

TEST_CASE("NAME-01: a Host of the ssh configuration is reported once, and only among several hosts") {
  DoctorInput input;
  for (int i = 1; i <= 2; ++i) {
    HostReport& host = input.add("alias" + std::to_string(i));
    fill(host, i);
    for (const char* name : {"alias1", "alias2"})
      replace_row(host, name, std::string(name) + " ! Name or service not known");
  }
  fill(input.driver_host, 1);
  for (const char* name : {"alias1", "alias2"})
    replace_row(input.driver_host, name, std::string(name) + " ! Name or service not known");
  const Finding finding = only(run_check("NAME-01", input));
  CHECK(finding.verdict == Verdict::warn);
  CHECK(finding.hosts == std::vector<std::string>{"alias1", "alias2"});
  CHECK(finding.remedy.note.starts_with("name the hosts as `ssh -G alias1 | grep '^hostname '` shows"));
  input.host("alias2").reach.problem = "Could not resolve hostname alias2";  // then it is no alias
  const auto unreached = run_check("NAME-01", input);
  CHECK(std::ranges::any_of(unreached, [](const Finding& one) {
    return one.verdict == Verdict::fail && one.observed.find("alias2") != std::string::npos;
  }));

  DoctorInput one;
  fill(one.add("alias1"), 1);
  replace_row(one.host("alias1"), "alias1", "alias1 ! Name or service not known");
  fill(one.driver_host, 2);
  replace_row(one.driver_host, "alias1", "alias1 ! Name or service not known");
  CHECK(only(run_check("NAME-01", one)).verdict == Verdict::pass);
}

TEST_CASE("NAME-02: the two famous hosts files") {
  DoctorInput input = four_hosts();
  CHECK(only(run_check("NAME-02", input)).verdict == Verdict::skip);
  give_rankfile(input, {"ib1", "ib2"}, {"node1", "node2"});
  const Finding finding = only(run_check("NAME-02", input));
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.observed == "ib2 is in the rankfile but is no name of hostfile hosts");
  CHECK(finding.why.find("either not allocated or oversubscribed") != std::string::npos);
  CHECK(finding.hosts == std::vector<std::string>{"node1", "node2"});
  REQUIRE(finding.remedy.commands.size() == 1);
  CHECK(finding.remedy.on_driver_host);
  CHECK(finding.remedy.commands[0].find("ib2([[:blank:]])/\\1node2\\2/") != std::string::npos);
  CHECK(finding.remedy.commands[0].ends_with(" job.rf"));
  CHECK(finding.remedy.note.find("btl_tcp_if_include 10.9.1.0/24") != std::string::npos);
}

TEST_CASE("NAME-02: what a host calls itself is no part of a script of sed") {
  DoctorInput input = four_hosts();
  input.driver_host.facts.set("mpi.version", "5.0.7");
  give_rankfile(input, {"ib1", "ib2"}, {"node1", "node2"});
  input.host("node2").facts.set("name.host", "nine");
  CHECK(only(run_check("NAME-02", input)).remedy.commands.at(0).find("\\1nine\\2/") != std::string::npos);
  input.host("node2").facts.set("name.host", "x/e;s/y");
  CHECK(only(run_check("NAME-02", input)).remedy.commands.at(0).find("x/e;") == std::string::npos);
}

TEST_CASE("NAME-02: a misspelt name is mended to the one that the rankfile lacks") {
  DoctorInput input = four_hosts();
  give_rankfile(input, {"node1", "ndoe2"}, {"node1", "node2"});
  const Finding finding = only(run_check("NAME-02", input));
  REQUIRE(finding.remedy.commands.size() == 1);
  CHECK(finding.remedy.commands[0].find("ndoe2([[:blank:]])/\\1node2\\2/") != std::string::npos);
  CHECK(finding.remedy.note.starts_with("did you mean node2 by ndoe2? "));
  give_rankfile(input, {"node1", "node2", "node9"}, {"node1", "node2"});
  CHECK(only(run_check("NAME-02", input)).remedy.note.find("did you mean") == std::string::npos);
}

TEST_CASE("NAME-02: all filled, unresolved, and rows that run") {
  DoctorInput input = four_hosts();
  give_rankfile(input, {"ib2", "ib3"}, {"node2", "node3"});
  CHECK(only(run_check("NAME-02", input)).observed.starts_with("no name of the rankfile (ib2, ib3)"));
  input = four_hosts();
  give_rankfile(input, {"node1", "nowhere"}, {}, "");
  const Finding nowhere = only(run_check("NAME-02", input));
  CHECK(nowhere.observed == "nowhere resolves to nothing where mpirun starts");
  CHECK(nowhere.expected == "names that resolve where mpirun starts");  // no allocation gives names
  CHECK(nowhere.remedy.note ==
        "write into the rankfile names that resolve where mpirun starts; do not rename the hosts");
  input = four_hosts();
  give_rankfile(input, {"ib1", "node2"}, {"node1", "node2"});
  CHECK(only(run_check("NAME-02", input)).verdict == Verdict::pass);
  input.job.allocation_source = "SLURM_JOB_NODELIST";
  CHECK(only(run_check("NAME-02", input)).observed ==
        "ib1 is in the rankfile but is no name of SLURM_JOB_NODELIST");
}

TEST_CASE("NAME-03: Debian's 127.0.1.1") {
  DoctorInput input = four_hosts();
  for (const char* host : {"node2", "node4"})
    replace_row(input.host(host), host, std::string(host) + " 127.0.1.1");
  const auto findings = run_check("NAME-03", input);
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].verdict == Verdict::warn);  // Open MPI runs all the same
  CHECK(findings[1].hosts == std::vector<std::string>{"node2", "node4"});
  CHECK(findings[1].remedy.commands[0].find("ip -4 -o route get 10.1.1.0 ") != std::string::npos);
  CHECK(findings[1].remedy.commands[0].find("/^[^[:blank:]]+[[:blank:]]*\\$/d}") != std::string::npos);
  CHECK(run_check("NAME-04", input).front().verdict == Verdict::pass);  // its own name is its own matter
}

TEST_CASE("NAME-04: tables that differ; the view that owns the address is right, even in the minority") {
  DoctorInput input = four_hosts();
  replace_row(input.host("node2"), "node3", "node3 10.1.1.33");
  Finding finding = only(run_check("NAME-04", input));
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.hosts == std::vector<std::string>{"node2"});
  CHECK(finding.observed == "node3 is 10.1.1.33 here, 10.1.1.3 to 2 other hosts");
  CHECK(finding.remedy.commands[0].ends_with("/etc/hosts && printf '%s\\n' '10.1.1.3 node3' >> /etc/hosts"));
  CHECK(finding.remedy.commands[0].find(";/^[^#[:blank:]]+[[:blank:]]*$/d") != std::string::npos);
  for (const char* host : {"node1", "node4"}) replace_row(input.host(host), "node3", "node3 10.1.1.33");
  finding = only(run_check("NAME-04", input));  // all others are wrong together: no one is left who says so
  CHECK(finding.verdict == Verdict::pass);
  input = four_hosts();
  replace_row(input.host("node1"), "node3", "node3 10.1.1.33");
  replace_row(input.host("node2"), "node3", "node3 10.1.1.33");
  finding = only(run_check("NAME-04", input));
  CHECK(finding.hosts == std::vector<std::string>{"node1", "node2"});
  // of several addresses of the right view the machine's own is written
  replace_row(input.host("node1"), "node3", "node3 1.1.1.1,10.1.1.3");
  CHECK(only(run_check("NAME-04", input)).remedy.commands.at(0).find("'10.1.1.3 node3'") !=
        std::string::npos);
  // a name of no host of the job, and as many hosts on each side
  input = four_hosts();
  for (const char* host : {"node1", "node2"}) replace_row(input.host(host), "ib9", "ib9 6.6.6.6");
  for (const char* host : {"node3", "node4"}) replace_row(input.host(host), "ib9", "ib9 10.9.1.9");
  finding = only(run_check("NAME-04", input));
  CHECK(finding.remedy.commands.empty());
  CHECK(finding.remedy.note.starts_with("no command, as it is reported by node1, node2 only"));
  // more addresses of the same host, another order, IPv6 beside
  input = four_hosts();
  replace_row(input.host("node1"), "node3", "node3 10.9.1.3,10.1.1.3,fe80::3");
  CHECK(only(run_check("NAME-04", input)).verdict == Verdict::pass);
}

TEST_CASE("NAME-05 and NAME-06: what Open MPI cannot read") {
  DoctorInput input = four_hosts();
  give_rankfile(input, {"node_1", "node2", "Node2", "rank"}, {});
  const auto findings = run_check("NAME-05", input);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].verdict == Verdict::fail);
  CHECK(findings[1].verdict == Verdict::warn);
  CHECK(findings[2].verdict == Verdict::fail);
  const std::string host(40, 'h');
  for (const std::size_t slots : {17u, 18u}) {  // 40 + 6 + 17 = 63
    input.job.rankfile_text = "rank 0=" + host + " slot=" + std::string(slots, '1') + "\n";
    CHECK(only(run_check("NAME-06", input)).verdict == (slots == 17 ? Verdict::pass : Verdict::fail));
  }
}

TEST_CASE("NAME-07: one machine under two names; containers with one boot id are not") {
  DoctorInput input = four_hosts();
  for (auto& host : input.hosts) host.facts.set("name.boot_id", "one kernel");
  CHECK(only(run_check("NAME-07", input)).verdict == Verdict::pass);
  fill(input.add("ib2"), 2);
  input.host("ib2").facts.set("name.boot_id", "one kernel");
  input.job.hostfile_path = "hosts";
  const Finding finding = only(run_check("NAME-07", input));
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.hosts == std::vector<std::string>{"node2", "ib2"});
  CHECK(finding.observed == "node2 and ib2 are names of one machine");
  CHECK(finding.remedy.commands[0] == "sed -i.before -E '/^[[:blank:]]*ib2([[:blank:]:]|$)/d' hosts");
}

TEST_CASE("NAME-09: numbers of slots, as Open MPI 4.1.4 took or refused them") {
  struct Row {
    const char* attributes;
    Verdict verdict;
  };
  for (const Row& row :
       {Row{"", Verdict::pass}, Row{" slots=4", Verdict::pass}, Row{" slots = 4", Verdict::pass},
        Row{" slots=0", Verdict::pass}, Row{" slots=04 # x", Verdict::pass},
        Row{" slots=2 max_slots=4", Verdict::pass}, Row{" slots=x", Verdict::fail},
        Row{" slots=", Verdict::fail}, Row{" slots=4x", Verdict::fail}, Row{" slots=-1", Verdict::fail},
        Row{"\tslots=2.5", Verdict::fail}, Row{" max-slots=x", Verdict::fail}, Row{" cpu=x", Verdict::fail},
        Row{" slots=4 max_slots=2", Verdict::fail}, Row{" slots=4 max-slots=2", Verdict::fail},
        Row{" slots=4, max_slots=8", Verdict::fail}}) {
    CAPTURE(row.attributes);
    DoctorInput input = four_hosts();
    input.job.hostfile_path = "hosts";
    input.job.hostfile_text = std::string("# slots=y\nnode1 slots=2\nnode2") + row.attributes + "\n";
    const Finding finding = only(run_check("NAME-09", input));
    CHECK(finding.verdict == row.verdict);
    if (row.verdict == Verdict::fail) CHECK(finding.observed.starts_with("line 3: "));
  }
  DoctorInput input = four_hosts();
  CHECK(only(run_check("NAME-09", input)).verdict == Verdict::skip);
  input.job.hostfile_path = "hosts";
  input.job.hostfile_text = "node2 slots=x";
  CHECK(only(run_check("NAME-09", input)).remedy.commands.empty());
  input.job.ranks_of_host["node2"] = 4;
  CHECK(only(run_check("NAME-09", input)).remedy.commands[0] ==
        "sed -i.before -E '1s/slots[[:blank:]]*=[[:blank:]]*[^[:blank:]]*/slots=4/' hosts");
}

TEST_CASE("NAME-08: slow logins stand out, a busy driver host does not") {
  struct Row {
    std::vector<double> seconds;
    Verdict worst;
  };
  const Row rows[] = {{{0.2, 0.3, 0.2, 4.9}, Verdict::pass},
                      {{0.2, 0.3, 0.2, 5.1}, Verdict::warn},
                      {{0.2, 0.3, 0.2, 10.1}, Verdict::fail},
                      {std::vector<double>(12, 6.0), Verdict::pass},
                      {std::vector<double>(4, 6.0), Verdict::warn}};
  for (const Row& row : rows) {
    DoctorInput input;
    for (const double seconds : row.seconds) input.add("h").reach.connect_seconds = seconds;
    const auto findings = run_check("NAME-08", input);
    CHECK(findings.back().verdict == row.worst);
  }
  DoctorInput input;
  input.add("h").reach.connect_seconds = 11;
  input.hosts[0].reach.attempts = 2;
  CHECK(only(run_check("NAME-08", input)).verdict == Verdict::skip);
}

TEST_SUITE_END();
