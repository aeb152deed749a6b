// SPDX-License-Identifier: MIT
// Each row is a run of mpirun 4.1.4 on real hosts node1..node4 (eth0 10.1.1.i = nodeI, ib0 10.9.1.i = ibI);
// tests/cluster/names.sh runs them again.
#include "doctor/parse/names.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;

namespace {

using Names = std::vector<std::string>;

struct Row {
  std::string from;
  Names allocation, rankfile;
  Outcome outcome;
  std::string host;
};

const std::map<std::string, std::string> hosts_file{
    {"node1", "10.1.1.1"},        {"node2", "10.1.1.2"},      {"node3", "10.1.1.3"}, {"ib1", "10.9.1.1"},
    {"ib2", "10.9.1.2"},          {"ib3", "10.9.1.3"},        {"near", "10.1.1.1"},  {"loopy", "127.0.1.1"},
    {"zero", "127.0.0.1"},        {"localhost", "127.0.0.1"}, {"Node1", "10.1.1.1"}, {"node2_b", "10.1.1.2"},
    {"six", "fe80::e0:ff:fe00:1"}};

LaunchNames names_of(const Row& row) {
  LaunchNames names;
  names.rankfile = row.rankfile;
  names.allocation = row.allocation;
  names.own_name = row.from;
  const std::string number(1, row.from[4]);
  names.own_addresses = {"127.0.0.1", "10.1.1." + number, "10.9.1." + number, "fe80::e0:ff:fe00:1"};
  for (const auto& [name, address] : hosts_file) names.resolved[name] = {name, {address}, ""};
  for (const char* name : {"nowhere", "far", "head", "a"}) names.resolved[name] = {name, {}, "unknown"};
  return names;
}

void check(const LaunchNames& names, const Row& row) {
  CAPTURE(row.from);
  CAPTURE(row.allocation);
  CAPTURE(row.rankfile);
  const Prediction seen = predict_mpirun(names);
  CHECK(outcome_name(seen.outcome) == outcome_name(row.outcome));
  CHECK(seen.host == row.host);
}

}  // namespace

TEST_SUITE_BEGIN("doctor/parse/names");

TEST_CASE("without a scheduler mpirun does what is predicted") {
  const Names eth{"node1", "node2"}, ib{"ib1", "ib2"};
  const std::vector<Row> rows{
      {"node1", {}, eth, Outcome::runs, ""},
      {"node1", {}, ib, Outcome::runs, ""},
      {"node3", {}, ib, Outcome::runs, ""},
      {"node1", ib, ib, Outcome::runs, ""},
      {"node1", eth, ib, Outcome::bad_host, "ib2"},
      {"node1", ib, eth, Outcome::bad_host, "node2"},
      {"node2", eth, ib, Outcome::bad_host, "ib1"},
      {"node3", eth, ib, Outcome::all_filled, ""},
      {"node1", eth, {"10.1.1.1", "10.1.1.2"}, Outcome::bad_host, "10.1.1.2"},
      {"node1", {"10.1.1.1", "10.1.1.2"}, eth, Outcome::bad_host, "node2"},
      {"node1", {"10.1.1.1", "10.1.1.2"}, {"10.9.1.1", "10.1.1.2"}, Outcome::runs, ""},
      {"node1", eth, {"ib1", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"node2", "ib1"}, Outcome::runs, ""},
      {"node1", eth, {"ib2", "ib1"}, Outcome::bad_host, "ib2"},
      {"node3", eth, {"ib2", "node2"}, Outcome::bad_host, "ib2"},
      {"node3", eth, {"node1", "node3"}, Outcome::bad_host, "node3"},
      {"node3", eth, {"node1", "ib3"}, Outcome::bad_host, "node3"},
      {"node3", eth, {"ib3", "ib1"}, Outcome::all_filled, ""},
      {"node1", eth, {"node1.cluster.local", "node2.x"}, Outcome::runs, ""},
      {"node1", {"node1.cluster.local", "node2.cluster.local"}, eth, Outcome::runs, ""},
      {"node1", eth, {"Node1", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"node1", "Node2"}, Outcome::bad_host, "Node2"},
      {"node1", eth, {"localhost", "node2"}, Outcome::runs, ""},
      {"node1", {"localhost", "node2"}, eth, Outcome::runs, ""},
      {"node3", {"localhost", "node2"}, {"node3", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"127.0.0.1", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"loopy", "node2"}, Outcome::bad_host, "loopy"},
      {"node1", eth, {"zero", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"six", "node2"}, Outcome::bad_host, "six"},
      {"node1", eth, {"user@node1", "node2"}, Outcome::runs, ""},
      {"node1", {"node1", "ddl@node2"}, eth, Outcome::runs, ""},
      {"node1", eth, {"node1", "nowhere"}, Outcome::bad_host, "nowhere"},
      {"node1", {"node1", "node2", "nowhere"}, eth, Outcome::runs, ""},
      {"node1", {}, {"node1", "nowhere"}, Outcome::unresolved, "nowhere"},
      {"node1", {"node1", "far.cluster.local"}, {"node1", "far.cluster.local"}, Outcome::unresolved, "far"},
      {"node1", eth, {"head.cluster.local", "node2"}, Outcome::bad_host, "head"},
      {"node1", {"near", "node2"}, eth, Outcome::runs, ""},
      {"node1", {"node2"}, eth, Outcome::bad_host, "node1"},
      {"node1", {"node2"}, {"node1"}, Outcome::all_filled, ""},
      {"node1", {"ib1"}, {"node1"}, Outcome::runs, ""},
      {"node1", eth, {"+n0", "+n1"}, Outcome::no_allocation, "+n0"},
      {"node1", {"node1", "node2_b"}, {"node1", "node2_b"}, Outcome::illegal_name, "node2_b"},
      // daemons are started before ranks are mapped
      {"node1", {"node1", "node2_b"}, {"node1", "node2_b", "nowhere"}, Outcome::illegal_name, "node2_b"},
      {"node1", {"node1", "nowhere"}, {"node1", "node2", "nowhere"}, Outcome::unresolved, "nowhere"},
      {"node1", {"7", "9"}, {"007", "009"}, Outcome::runs, ""},  // mapped; ssh to 0.0.0.7 is another matter
      {"node1", eth, {"node2.x", "node2.y"}, Outcome::runs, ""},
  };
  for (const Row& row : rows) check(names_of(row), row);
}

// mpirun 5.0.7 on the same hosts; node2 calls itself node2, whatever name the allocation has.
TEST_CASE("Open MPI 5 does what is predicted") {
  const Names eth{"node1", "node2"}, ib{"ib1", "ib2"};
  const std::vector<Row> rows{
      {"node1", {}, eth, Outcome::bad_host, "node2"},
      {"node3", {}, ib, Outcome::bad_host, "ib1"},
      {"node1", {}, {"+n0", "+n1"}, Outcome::bad_index, "+n1"},
      {"node1", eth, eth, Outcome::runs, ""},
      {"node1", ib, ib, Outcome::bad_host, "ib1"},
      {"node1", ib, {"node1", "ib2"}, Outcome::bad_host, "ib2"},
      {"node1", ib, eth, Outcome::runs, ""},
      {"node1", eth, ib, Outcome::bad_host, "ib1"},
      {"node3", eth, {"node1", "ib3"}, Outcome::bad_host, "ib3"},
      {"node3", eth, {"node1", "node3"}, Outcome::bad_host, "node3"},
      {"node1", eth, {"node1.cluster.local", "node2.x"}, Outcome::runs, ""},
      {"node1", {"node1.a", "nowhere.b"}, eth, Outcome::unresolved, "nowhere.b"},
      {"node1", {"node1", "node2", "nowhere"}, eth, Outcome::unresolved, "nowhere"},
      {"node1", eth, {"node1", "nowhere"}, Outcome::bad_host, "nowhere"},
      {"node1", {"10.1.1.1", "10.1.1.2"}, eth, Outcome::runs, ""},
      {"node1", {"10.1.1.1", "10.1.1.2"}, {"10.9.1.1", "10.1.1.2"}, Outcome::bad_host, "10.1.1.2"},
      {"node1", eth, {"10.1.1.1", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"localhost", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"127.0.0.1", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"zero", "node2"}, Outcome::bad_host, "zero"},
      {"node1", eth, {"near", "node2"}, Outcome::bad_host, "near"},
      {"node1", eth, {"user@node1", "node2"}, Outcome::runs, ""},
      {"node1", {"node1", "node2_b"}, {"node1", "node2_b"}, Outcome::bad_host, "node2_b"},
      {"node1", {"node1", "node2_b"}, eth, Outcome::runs, ""},
      {"node1", eth, {"+n0", "+n1"}, Outcome::runs, ""},
      {"node1", eth, {"+n0", "+n5"}, Outcome::bad_index, "+n5"},
      {"node1", {"node2"}, {"node1"}, Outcome::bad_host, "node1"},
      {"node1", {"ib1"}, {"node1"}, Outcome::runs, ""},
  };
  for (const Row& row : rows) {
    LaunchNames names = names_of(row);
    names.mpi_major = 5;
    names.resolved["nowhere.b"] = {"nowhere.b", {}, "unknown"};
    names.host_names = {{"ib1", "node1"}, {"ib2", "node2"}, {"10.1.1.2", "node2"}, {"node2_b", "node2"}};
    check(names, row);
  }
  LaunchNames names = names_of({"node1", eth, {"node1.a", "node2.b"}, {}, ""});
  names.mpi_major = 5;
  CHECK(predict_mpirun(names).outcome == Outcome::runs);
  names.keep_fqdn = true;
  CHECK(predict_mpirun(names).host == "node1.a");
  names = names_of({"node1", {"10.1.1.1", "node2"}, {"10.1.1.1", "node2"}, {}, ""});
  names.mpi_major = 5;
  names.managed = true;  // a row of Slurm
  CHECK(predict_mpirun(names).outcome == Outcome::runs);
}

TEST_CASE("a launching host whose own name is long, or kept whole") {
  LaunchNames names = names_of({"node1", {"node2"}, {"ib1", "node2"}, {}, ""});
  names.own_name = "node1.cluster.local";
  CHECK(predict_mpirun(names).host == "node1");  // mpirun prints the cut name
  names.keep_fqdn = true;
  names.own_name = "node1";
  names.allocation = {"node1", "node2"};
  names.rankfile = {"node1.a", "node2.b"};
  CHECK(predict_mpirun(names).outcome == Outcome::all_filled);
}

TEST_CASE("in an allocation of Slurm") {
  const Names eth{"node1", "node2"};
  const std::vector<Row> rows{
      {"node1", eth, eth, Outcome::runs, ""},
      {"node1", eth, {"ib1", "ib2"}, Outcome::bad_host, "ib1"},
      {"node1", eth, {"node1", "ib2"}, Outcome::bad_host, "ib2"},
      {"node1", eth, {"node1.x", "node2.y"}, Outcome::runs, ""},
      {"node1", eth, {"node1", "node3"}, Outcome::bad_host, "node3"},
      {"node1", eth, {"localhost", "node2"}, Outcome::runs, ""},
      {"node1", eth, {"+n1", "+n0"}, Outcome::runs, ""},
      {"node1", eth, {"+n1", "+n2"}, Outcome::bad_index, "+n2"},
      {"node1", eth, {"10.1.1.1", "node2"}, Outcome::bad_host, "10.1.1.1"},
      {"node1", eth, {"Node1", "node2"}, Outcome::bad_host, "Node1"},
  };
  for (const Row& row : rows) {
    LaunchNames names = names_of(row);
    names.managed = true;
    check(names, row);
  }
}

TEST_CASE("a row of the table of names travels as one line") {
  for (const NameRow& row : {NameRow{"node1", {"10.1.1.1", "fe80::1"}, ""}, NameRow{"x", {}, "not known"}}) {
    const auto back = parse_name_row(render_name_row(row));
    REQUIRE(back);
    CHECK(back->name == row.name);
    CHECK(back->addresses == row.addresses);
    CHECK(back->problem == row.problem);
  }
  for (const char* odd : {"", "node1", " 10.1.1.1", "node1 10.1.1.1,", "node1 a b"})
    CHECK(!parse_name_row(odd));
}

TEST_SUITE_END();
