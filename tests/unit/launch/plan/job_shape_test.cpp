// SPDX-License-Identifier: MIT
#include "launch/plan/job_shape.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::HostWords;
using launch::JobShape;
using launch::LaunchFlags;
using Counts = std::vector<std::uint32_t>;

namespace {

JobShape shape_of(const LaunchFlags& flags) {
  return launch::resolve_shape(flags, launch::resolve_host_words(flags));
}

LaunchFlags with_hosts(const std::string& text, LaunchFlags flags = {}) {
  flags.hosts_option = text;
  return flags;
}

std::string message_of(const LaunchFlags& flags) {
  try {
    shape_of(flags);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.message().what;
  }
  return {};
}

std::string hint_of(const LaunchFlags& flags) {
  try {
    shape_of(flags);
  } catch (const Error& error) {
    return error.message().hint;
  }
  return {};
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/job_shape");

TEST_CASE("-H: names, equal counts, a count for each host") {
  struct Row {
    const char *text, *hosts;
    std::optional<std::uint32_t> ranks_per_host;
    Counts host_ranks;
  };
  const Row rows[] = {{"h1,h2", "h1,h2", std::nullopt, {}},
                      {"h1:4,h2:4", "h1,h2", 4, {}},
                      {"h1:4,h2:2", "h1,h2", std::nullopt, {4, 2}},
                      {"n[1,3]:2", "n[1,3]", 2, {}},
                      {"n[1-3]:2,m:1", "n[1-3],m", std::nullopt, {2, 2, 2, 1}}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const LaunchFlags flags = with_hosts(row.text);
    CHECK(launch::resolve_host_words(flags).hosts == row.hosts);
    CHECK(shape_of(flags).ranks_per_host == row.ranks_per_host);
    CHECK(shape_of(flags).host_ranks == row.host_ranks);
  }
}

TEST_CASE("-H of TensorFlow's tasks: the counts of each host, equal or not, and no dims") {
  LaunchFlags tasks;
  tasks.framework.ps = "2";
  tasks.framework.workers = "2";
  for (const char* text : {"h1:2,h2:2", "h1:3,h2:1"}) {
    const JobShape shape = shape_of(with_hosts(text, tasks));
    CHECK(shape.host_ranks.size() == 2);
    CHECK_FALSE(shape.has_ranks_per_host());
  }
}

TEST_CASE("hosts in the place of DIMS are hosts") {
  struct Row {
    const char *first, *second, *dims, *hosts;
  };
  for (const Row& row :
       {Row{"h1,h2", "", "", "h1,h2"}, Row{"node[1-4]", "4x4", "4x4", "node[1-4]"},
        Row{"@hosts", "", "", "@hosts"}, Row{"10.0.0.1,10.0.0.2", "", "", "10.0.0.1,10.0.0.2"},
        Row{"4x2", "h1,h2", "4x2", "h1,h2"}, Row{"4*2", "", "4*2", ""}, Row{"4x", "h1", "4x", "h1"},
        Row{"a", "b", "a", "b"}, Row{"4.5", "", "4.5", ""}}) {
    CAPTURE(row.first);
    LaunchFlags flags;
    flags.dims = row.first;
    flags.hosts = row.second;
    CHECK(launch::resolve_host_words(flags).dims == row.dims);
    CHECK(launch::resolve_host_words(flags).hosts == row.hosts);
  }
}

TEST_CASE("-H: invalid counts, and counts that contradict DIMS or --ranks-per-host") {
  for (const char* text :
       {"h1:4,h2", "h1,h2:4", "h1:0,h2:4", "h1:x,h2:4", "h1:4,h2:", "h1:99999999999,h2:1"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(shape_of(with_hosts(text)), Error);
  }
  LaunchFlags dims;
  dims.dims = "4x2x1";
  CHECK_NOTHROW(shape_of(with_hosts("h1:4,h2:4", dims)));
  CHECK_THROWS_AS(shape_of(with_hosts("h1:4,h2:2", dims)), Error);
  LaunchFlags factors;
  factors.ranks_per_host = "2";
  CHECK_THROWS_AS(shape_of(with_hosts("h1:4,h2:4", factors)), Error);
  LaunchFlags twice = with_hosts("h1");
  twice.hosts = "h2";
  CHECK(message_of(twice) == "hosts are given twice");
}

TEST_CASE("--np needs no DIMS: the first word is HOSTS") {
  LaunchFlags flags;
  flags.dims = "h1,h2";
  flags.framework.np = "8";
  CHECK(launch::resolve_host_words(flags).dims.empty());
  CHECK(launch::resolve_host_words(flags).hosts == "h1,h2");
  CHECK(shape_of(flags).total_ranks == 8);
  flags.dims = "4x2";
  CHECK(message_of(flags) == "--np conflicts with DIMS");
}

TEST_CASE("--np -N: N ranks on this host, and no hosts beside it") {
  LaunchFlags flags;
  flags.framework.np = "-4";
  CHECK(shape_of(flags).local_ranks == 4);
  CHECK(shape_of(flags).dims == topology::Dims{4, 1, 1, 1});
  flags.hosts = "h1";
  CHECK(message_of(flags) == "--np -4 starts 4 ranks on this host, but hosts are named");
  flags = {};
  flags.framework.np = "4";
  flags.framework.workers = "2";
  CHECK(message_of(flags) == "--np conflicts with --ps, --workers");
  flags = with_hosts("h1:2,h2:1");
  flags.framework.np = "3";
  CHECK(message_of(flags) == "");  // horovodrun's -np 3 -H h1:2,h2:1: the same twice
  flags.framework.np = "4";
  CHECK(message_of(flags) == "--np conflicts with the counts of -H");
  for (const char* np : {"0", "-0", "x", "4.5", "--4"}) {
    CAPTURE(np);
    flags = {};
    flags.framework.np = np;
    CHECK_FALSE(message_of(flags).empty());
  }
}

TEST_CASE("-H with blanks, and with a host behind a blank") {
  LaunchFlags flags = with_hosts("h1:2, h2:2");
  CHECK(message_of(flags) == "");
  CHECK(launch::resolve_host_words(flags).hosts == "h1,h2");
  flags = with_hosts("h1:2");
  flags.dims = "h2:2";
  CHECK(hint_of(flags) == "-H h1:2,h2:2");
}

TEST_CASE("dims from the factors: hosts per rack from the number of hosts") {
  LaunchFlags flags;
  flags.racks = "2";
  CHECK(launch::resolve_dims(shape_of(flags), 6, 4) == topology::Dims{4, 3, 2, 1});
  CHECK_THROWS_AS(launch::resolve_dims(shape_of(flags), 5, 4), Error);
  flags.hosts_per_rack = "1";
  CHECK(launch::resolve_dims(shape_of(flags), 5, 4) == topology::Dims{4, 1, 2, 1});
  flags.ranks_per_host = "2";
  flags.aisles = "3";
  CHECK(launch::resolve_dims(shape_of(flags), 6, 4) == topology::Dims{2, 1, 2, 3});
  flags.dims = "4x2x1";
  CHECK(message_of(flags) == "DIMS and its factors are both given");
}

TEST_CASE("slots of a hostfile are the ranks of its hosts, unless other options give them") {
  const std::vector<std::string> hosts{"h1", "h2"};
  const auto counts = [&](const LaunchFlags& flags, const Counts& slots) {
    return launch::counts_of_slots(flags, launch::resolve_host_words(flags), hosts, slots);
  };
  LaunchFlags flags;
  CHECK(counts(flags, {4, 2}) == Counts{4, 2});
  CHECK(counts(flags, {}).empty());
  flags.framework.np = "6";
  CHECK(counts(flags, {4, 2}) == Counts{4, 2});
  flags.framework.np = "4";  // fill_slots()
  CHECK(counts(flags, {4, 2}) == Counts{4, 2});
  flags.framework.np = "8";
  CHECK_THROWS_AS(counts(flags, {4, 2}), Error);
  flags.plan.oversubscribe = true;
  CHECK(counts(flags, {4, 2}).empty());
  LaunchFlags with_dims;
  with_dims.dims = "2x2";
  CHECK(counts(with_dims, {4, 2}).empty());
  LaunchFlags tasks;
  tasks.framework.ps = "1";
  tasks.framework.workers = "2";
  CHECK(counts(tasks, {4, 2}) == Counts{4, 2});
}

// mpirun 4.1.4 and 5.0.7, `mpirun -n N --hostfile FILE hostname`: the slots of a host, then those of the
// next.
TEST_CASE("fewer ranks than slots fill the hosts in their order, as mpirun does") {
  struct Row {
    const char* np;
    Counts slots, filled;
    std::vector<std::string> used;
  };
  for (const Row& row : {Row{"2", {2, 2}, {2}, {"h1"}}, Row{"3", {2, 2}, {2, 1}, {"h1", "h2"}},
                         Row{"1", {4, 2}, {1}, {"h1"}}, Row{"4", {2, 2}, {2, 2}, {"h1", "h2"}},
                         Row{"5", {2, 2}, {2, 2}, {"h1", "h2"}}, Row{"2", {}, {}, {"h1", "h2"}},
                         Row{"-2", {2, 2}, {2, 2}, {"h1", "h2"}}, Row{"0", {2, 2}, {2, 2}, {"h1", "h2"}}}) {
    CAPTURE(row.np);
    LaunchFlags flags;
    flags.framework.np = row.np;
    std::vector<std::string> hosts{"h1", "h2"};
    HostWords words{"", "h1,h2", row.slots};
    const bool changes = row.filled != row.slots;
    CHECK(launch::fill_slots(flags, hosts, words).empty() == !changes);
    CHECK(words.counts == row.filled);
    CHECK(hosts == row.used);
  }
  LaunchFlags flags;
  flags.framework.np = "2";
  std::vector<std::string> hosts{"h1", "h2", "h3"};
  HostWords words{"", "h1,h2,h3", {2, 2, 2}};
  CHECK(launch::fill_slots(flags, hosts, words) ==
        "-n 2 of 6 slots fills the hosts in their order, as mpirun does: h1:2; without ranks: h[2-3]");
  CHECK(launch::resolve_shape(flags, words).ranks_per_host == 2);
}

TEST_SUITE_END();
