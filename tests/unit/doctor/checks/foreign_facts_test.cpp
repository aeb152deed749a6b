// SPDX-License-Identifier: MIT
// A fact of one host never becomes a command on another host or on the driver host. Every fact that this
// machine reports is replaced on one of the hosts by text that a shell would run.
#include "doctor/checks/examination.hpp"
#include "doctor/gather/agent.hpp"
#include "doctor/model/check.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/real_host.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shell_leak.hpp"
#include "tests/unit/doctor/device_checks.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace ddlrun::doctor;
using ddlrun::testing::Sample;
using ddlrun::tests::DoctorInput;
using ddlrun::tests::may_run;

namespace {

const std::vector<std::string> payloads = {"$(>P1)", "`>P2`", "';>P3;'", "\n>P4\n", "/e;>P5;"};
// False, and no shell would object.
const std::string false_path = "/tmp/evil/bin/mpirun", false_address = "6.6.6.6", false_name = "evil",
                  false_number = "54321";

const std::string& lie_like(std::string_view word) {
  if (word.find('/') == 0) return false_path;
  if (std::count(word.begin(), word.end(), '.') == 3) return false_address;
  return word.find_first_not_of("0123456789.") == std::string_view::npos ? false_number : false_name;
}

bool has_lie(const std::string& command) {
  for (const auto& lie : {false_path, false_address, false_name, false_number}) {
    if (command.find(lie) != std::string::npos) return true;
  }
  return false;
}

// The values to try: the payload alone, behind the true value, as an item of its list, and as a word of its
// line.
std::vector<std::string> mangled(const std::string& value, const std::string& payload) {
  const std::string word = value.substr(0, value.find(' '));
  return {value + payload, "/opt/x" + payload + "/bin/mpirun", word + " 6.6.6.6" + payload, payload};
}

// A lie in place of the value, and of each of its words.
std::vector<std::string> falsified(const std::string& value) {
  constexpr std::size_t most = 24;
  constexpr const char* between = " =,\n";
  std::vector<std::string> all{lie_like(value)};
  for (std::size_t begin = 0; begin < value.size() && all.size() < most;) {
    const std::size_t end = std::min(value.find_first_of(between, begin), value.size());
    const std::string word = value.substr(begin, end - begin);
    if (!word.empty()) all.push_back(value.substr(0, begin) + lie_like(word) + value.substr(end));
    begin = end + 1;
  }
  return all;
}

std::string text_of(const Facts& facts, const std::string& name) {
  return std::string(facts.text(name).value_or(""));
}

// What gatherers of other machines report: MPI, the program, data, devices, and how the hosts reach each
// other.
void add_job_facts(Facts& facts) {
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"environment.modules", "gcc/12:openmpi/4"},
                                                        {"environment.settings", "OMPI_MCA_btl=tcp"},
                                                        {"mpi.program.mpirun", "/opt/mpi/bin/mpirun"},
                                                        {"mpi.program.orted", "/opt/mpi/bin/orted"},
                                                        {"mpi.real.orted", "/opt/mpi/bin/orted"},
                                                        {"mpi.search_path", "/usr/bin:/bin"},
                                                        {"mpi.vendor", "Open MPI"},
                                                        {"mpi.version", "4.1.4"},
                                                        {"mpi.daemon_version", "4.1.4"},
                                                        {"python.version", "3.11.2"},
                                                        {"python.torch", "2.3.0"},
                                                        {"program.path", "/opt/env/bin/python3"},
                                                        {"program.size", "1000"},
                                                        {"program.hash", "aa"},
                                                        {"program.kind", "elf"},
                                                        {"program.file.0.size", "10"},
                                                        {"program.file.0.hash", "cc"},
                                                        {"data.0.state", "directory"},
                                                        {"data.0.complete", "yes"},
                                                        {"data.0.files", "4"},
                                                        {"data.0.bytes", "5000"},
                                                        {"data.0.names", "aa"},
                                                        {"data.0.sizes", "bb"},
                                                        {"data.0.denied", "0"},
                                                        {"user.uid", "1000"},
                                                        {"user.gid", "1000"},
                                                        {"user.name", "kim"},
                                                        {"pair.listening", "4000\n4001"},
                                                        {"child.count", "1"},
                                                        {"child.0.host", "h2"},
                                                        {"child.0.result", "Permission denied"}})
    facts.set(name, value);
  ddlrun::tests::set_gpus(facts);
}

// What a host says about itself and its two neighbours.
void add_network_facts(Facts& facts, std::size_t own, std::size_t hosts) {
  // "login" is a name that h1 alone resolves.
  const std::string login = own == 1 ? "login " + false_address : "login ! Name or service not known";
  std::vector<std::string> table{"localhost 127.0.0.1", login}, answers, paths, rates;
  for (std::size_t i = 1; i <= hosts; ++i) {
    const std::string peer = fmt::format("h{} 10.1.1.{}", i, i);
    table.push_back(peer);
    if (i == own) continue;
    answers.push_back(peer + " 4000 connected");
    answers.push_back(peer + " 4001 timed-out Connection timed out");
    paths.push_back(peer + " 1500 1400");
    rates.push_back(peer + " 9000");
  }
  facts.set("name.host", fmt::format("h{}", own));
  facts.set("name.boot_id", fmt::format("boot{}", own));
  facts.set_list("name.table", table);
  facts.set_list("pair.answers", answers);
  facts.set_list("pair.paths", paths);
  facts.set_list("pair.rates", rates);
  facts.set_list("net.interfaces", {"lo up loopback mtu=65536 addr=127.0.0.1/8",
                                    fmt::format("eth0 up mtu=1500 mac=02:{0} addr=10.1.1.{0}/24", own),
                                    "docker0 up mtu=1500 mac=02:d0 addr=172.17.0.1/16"});
}

Facts all_facts() {
  ddlrun::tests::RealHost machine;
  ProbeRequest request;
  request.names = {"h1", "h2", "localhost"};
  request.executable = "python3";
  Facts facts = gather_facts(machine.interfaces, request, all_gatherers()).facts;
  REQUIRE(facts.all().size() > 100);
  add_job_facts(facts);
  return facts;
}

// h1 is the host that lies.
DoctorInput input_of(const Facts& facts, std::size_t hosts) {
  DoctorInput input;
  input.level = Level::stress;
  input.job.program = {"/opt/env/bin/python3", "train.py"};
  input.job.ranks = 8;
  input.job.workdir = "/work";
  input.job.data_paths = {"/data"};
  input.job.rankfile_path = "job.rf";
  input.job.rankfile_text = "rank 0=h1 slot=0:0\nrank 1=h2 slot=0:0\nrank 2=h9 slot=0:0\n";
  input.job.hostfile_path = "hosts";
  input.job.hostfile_text = "h1\nh2\n";
  input.job.allocation = {"login"};
  input.driver_host.facts = facts;
  add_network_facts(input.driver_host.facts, 9, hosts);
  for (const char* name : {"pair.answers", "pair.paths", "pair.rates"})
    input.driver_host.facts.set_unknown(name, "not one of the hosts");
  for (std::size_t i = 1; i <= hosts; ++i) {
    input.job.allocation.push_back(fmt::format("h{}", i));
    HostReport& host = input.add(input.job.allocation.back());
    host.facts = facts;
    add_network_facts(host.facts, i, hosts);
  }
  return input;
}

// Who else has the fact: all, only h1, or no driver host.
enum class Holders { all, h1_alone, hosts_alone };

DoctorInput scenario(const Facts& facts, std::size_t hosts, const std::string& name, Holders holders) {
  DoctorInput input = input_of(facts, hosts);
  const auto take = [&](HostReport& host) { host.facts.set_unknown(name, "not found"); };
  if (holders != Holders::all) take(input.driver_host);
  for (HostReport& host : input.hosts) {
    if (holders == Holders::h1_alone && host.host != "h1") take(host);
  }
  return input;
}

bool is_about_h1(const Finding& finding) { return finding.hosts == std::vector<std::string>{"h1"}; }

// Each command that is run elsewhere than on h1, with its finding.
template <typename Visit>
void each_command_elsewhere(const DoctorInput& input, const Visit& visit) {
  for (const Finding& finding : run_checks(all_checks(), input.get())) {
    if (is_about_h1(finding) && !finding.remedy.on_driver_host) continue;
    for (const std::string& command : finding.remedy.commands) visit(finding, command);
  }
}

// Where h1 alone decides about others, its word is in no command, and h1 is where nothing is fetched from.
// MPI-04 and NAME-02 need each host's own word for itself: the name of its interface, its own name.
bool is_swayed(const Finding& finding, const std::string& command) {
  if (is_about_h1(finding) || finding.id == "MPI-04" || finding.id == "NAME-02") return false;
  for (const char* from_h1 : {"h1:", "ssh h1 ", "ssh 'h1'"}) {
    if (command.find(from_h1) != std::string::npos) return true;
  }
  return has_lie(command);
}

bool names_a_stranger(const DoctorInput& input, const Finding& finding) {
  const auto is_known = [&](const std::string& name) {
    const auto& known = input.job.allocation;
    return name == input.driver_host.host || std::find(known.begin(), known.end(), name) != known.end();
  };
  return !std::all_of(finding.hosts.begin(), finding.hosts.end(), is_known);
}

// The last command of `input` that `is_bad`, or that goes to a host that h1 alone names.
template <typename IsBad>
std::string leak_of(const DoctorInput& input, const std::string& name, const IsBad& is_bad) {
  std::string leak;
  each_command_elsewhere(input, [&](const Finding& finding, const std::string& command) {
    if (is_bad(finding, command) || names_a_stranger(input, finding))
      leak = fmt::format("{} = {} -> {}: {}", name, text_of(input.hosts.front().facts, name), finding.id,
                         command);
  });
  return leak;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/foreign_facts");

TEST_CASE("may_run sees what a shell would run") {
  CHECK(may_run("echo $(>P1)", "$(>P1)"));
  CHECK_FALSE(may_run("echo '$(>P1)'", "$(>P1)"));
  CHECK(may_run("echo 'a'$(>P1)'b'", "$(>P1)"));
  CHECK(may_run("ssh h '$(>P1)'", "$(>P1)"));
  CHECK_FALSE(may_run("ls", "$(>P1)"));
}

// h1's facts by name; of several GPUs the first stands for all.
std::vector<std::string> names_to_try(const Facts& facts) {
  std::vector<std::string> names;
  DoctorInput example = input_of(facts, 2);
  for (const auto& [name, fact] : example.host("h1").facts.all()) {
    const bool is_further_gpu = (name.starts_with("gpu.") || name.starts_with("nvml.")) &&
                                name.find_first_of("123") == name.find('.') + 1;
    if (!is_further_gpu) names.push_back(name);
  }
  return names;
}

TEST_CASE("no fact of one host becomes a command elsewhere") {
  const Facts facts = all_facts();
  Sample sample;
  for (const std::string& name : names_to_try(facts)) {
    for (const Holders holders : {Holders::all, Holders::h1_alone}) {
      DoctorInput input = scenario(facts, 2, name, holders);
      const std::string value = text_of(input.host("h1").facts, name);
      for (const std::string& payload : payloads) {
        for (const std::string& text : mangled(value, payload)) {
          if (!sample.takes_next()) continue;
          input.host("h1").facts.set(name, text);
          CHECK(leak_of(input, name, [&](const Finding&, const std::string& command) {
                  return may_run(command, payload);
                }) == "");
        }
      }
    }
  }
}

TEST_CASE("no lie of one host decides about others, with two hosts and with three") {
  const Facts facts = all_facts();
  Sample sample;
  for (const std::string& name : names_to_try(facts)) {
    for (const std::size_t hosts : {2, 3}) {
      for (const Holders holders : {Holders::all, Holders::h1_alone, Holders::hosts_alone}) {
        DoctorInput input = scenario(facts, hosts, name, holders);
        const std::string value = text_of(input.host("h1").facts, name);
        for (const std::string& text : falsified(value)) {
          if (!sample.takes_next()) continue;
          input.host("h1").facts.set(name, text);
          CHECK(leak_of(input, name, is_swayed) == "");
        }
      }
    }
  }
}

TEST_SUITE_END();
