// SPDX-License-Identifier: MIT
#include "tests/unit/doctor/one_check.hpp"

using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

FactTable data(const char* state, const char* files, const char* bytes, const char* names,
               const char* sizes) {
  return {{"data.0.state", state}, {"data.0.complete", "yes"}, {"data.0.files", files},
          {"data.0.bytes", bytes}, {"data.0.names", names},    {"data.0.sizes", sizes},
          {"data.0.denied", "0"}};
}
const FactTable full = data("directory", "4", "54950048", "aa", "bb");
const FactTable empty = data("directory", "0", "0", "0", "0");
const FactTable missing = data("missing", "0", "0", "0", "0");

// Four hosts with `full`, but for those named.
DoctorInput four(const std::map<std::string, FactTable>& others, const FactTable& driver_host = {}) {
  DoctorInput input;
  input.job.data_paths = {"/data/mnist"};
  for (const char* host : {"h1", "h2", "h3", "h4"}) {
    const auto other = others.find(host);
    set_facts(input.add(host), other == others.end() ? full : other->second);
  }
  set_facts(input.driver_host, driver_host);
  return input;
}

const Finding* find(const std::vector<Finding>& findings, Verdict verdict) {
  for (const Finding& finding : findings) {
    if (finding.verdict == verdict) return &finding;
  }
  return nullptr;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_data");

TEST_CASE("DATA-01: the host whose data differ is named, whatever is wrong with them") {
  struct Row {
    const char* what;
    FactTable facts;
    const char* observed;
  };
  for (const Row& row :
       {Row{"missing", missing, "/data/mnist: missing"}, Row{"empty", empty, "/data/mnist: 0 files, 0 bytes"},
        Row{"a file fewer", data("directory", "3", "54000000", "ac", "bd"), "/data/mnist: 3 files, 51.5 MiB"},
        Row{"a name differs", data("directory", "4", "54950048", "ab", "bb"),
            "/data/mnist: 4 files, 52.4 MiB"},
        Row{"a size differs", data("directory", "4", "54950048", "aa", "bc"),
            "/data/mnist: 4 files, 52.4 MiB"}}) {
    CAPTURE(row.what);
    const auto findings = run_system_check("DATA-01", four({{"h3", row.facts}}));
    REQUIRE(findings.size() == 2);
    const Finding* const fail = find(findings, Verdict::fail);
    REQUIRE(fail != nullptr);
    CHECK(fail->hosts == std::vector<std::string>{"h3"});
    CHECK(fail->observed == row.observed);
    CHECK(fail->expected == "4 files, 52.4 MiB, as on h1");
  }
}

TEST_CASE("DATA-01: a mount that hangs is named, also where no one has data") {
  const FactTable hung{{"data.0.state", "hung"}, {"data.0.mount", "/data"}};
  for (const FactTable& others : {full, missing}) {
    const auto findings =
        run_system_check("DATA-01", four({{"h1", others}, {"h2", hung}, {"h3", others}, {"h4", others}}));
    REQUIRE(findings.size() == 2);
    CHECK(findings[1].hosts == std::vector<std::string>{"h2"});
    CHECK(findings[1].observed == "/data/mnist: no answer within 4 s");
    CHECK(findings[1].remedy.commands == std::vector<std::string>{"umount -l /data"});
  }
}

TEST_CASE("DATA-01: an empty directory is never what others are measured by") {
  const auto findings = run_system_check("DATA-01", four({{"h1", empty}, {"h2", empty}, {"h3", empty}}));
  const Finding* const fail = find(findings, Verdict::fail);
  REQUIRE(fail != nullptr);
  CHECK(fail->expected == "4 files, 52.4 MiB, as on h4");
}

TEST_CASE("DATA-01: half against half goes by the driver host") {
  const FactTable other = data("directory", "9", "1", "cc", "dd");
  const auto findings = run_system_check("DATA-01", four({{"h1", other}, {"h2", other}}, full));
  const Finding* const fail = find(findings, Verdict::fail);
  REQUIRE(fail != nullptr);
  CHECK(fail->hosts == std::vector<std::string>{"h1", "h2"});
  CHECK(fail->expected == "4 files, 52.4 MiB, as on the driver host");
  CHECK(fail->remedy.commands ==
        std::vector<std::string>{
            "for h in h1 h2; do tar -C /data/mnist -cf - . | ssh \"$h\" 'mkdir -p /data/mnist && tar -C "
            "/data/mnist -xf -'; done"});
  CHECK(fail->remedy.on_driver_host);
}

TEST_CASE("DATA-01: all missing, all well, too many, not reported") {
  const auto none =
      run_system_check("DATA-01", four({{"h1", missing}, {"h2", missing}, {"h3", missing}, {"h4", missing}}));
  REQUIRE(none.size() == 1);
  CHECK(none[0].verdict == Verdict::fail);
  CHECK(none[0].hosts.size() == 4);
  const auto well = run_system_check("DATA-01", four({}));
  REQUIRE(well.size() == 1);
  CHECK(well[0].verdict == Verdict::pass);
  FactTable many = data("directory", "20001", "0", "ee", "ff");
  many["data.0.complete"] = "no";
  CHECK(run_system_check("DATA-01", four({{"h1", many}, {"h2", many}, {"h3", many}, {"h4", many}}))[0]
            .verdict == Verdict::pass);
  CHECK(run_system_check("DATA-01", four({{"h2", {}}}))[1].verdict == Verdict::skip);
  CHECK(verdict_of("DATA-01", full) == "skip");
}

TEST_CASE("DATA-01: the file that differs is named") {
  FactTable here = full, there = data("directory", "4", "54950040", "aa", "bc");
  here["data.0.sample"] = "47040016 train-images\n7840016 t10k images";
  there["data.0.sample"] = "47040016 train-images\n7840008 t10k images";
  const auto findings =
      run_system_check("DATA-01", four({{"h1", here}, {"h2", here}, {"h3", there}, {"h4", here}}));
  CHECK(find(findings, Verdict::fail)->observed.ends_with("; t10k images has 7840008 bytes, not 7840016"));
}

TEST_CASE("DATA-01: paths from people are quoted twice on their way") {
  DoctorInput input = four({{"h2", missing}}, full);
  input.job.data_paths = {"/data/my $(touch x) 'set'"};
  const auto findings = run_system_check("DATA-01", input);
  CHECK(find(findings, Verdict::fail)
            ->remedy.commands[0]
            .starts_with("tar -C '/data/my $(touch x) '\\''set'\\''' -cf - ."));
}

TEST_CASE("DATA-02: the number counts, not the name") {
  const FactTable ddl{
      {"user.uid", "2000"}, {"user.gid", "2000"}, {"user.name", "ddl"}, {"user.groups", "2000"}};
  FactTable other = ddl, docker = ddl;
  other["user.uid"] = "2007";
  docker["user.groups"] = "2000\n999";
  const auto findings =
      run_system_check("DATA-02", four({{"h1", ddl}, {"h2", other}, {"h3", docker}, {"h4", ddl}}));
  REQUIRE(findings.size() == 2);
  const Finding* const fail = find(findings, Verdict::fail);
  REQUIRE(fail != nullptr);
  CHECK(fail->hosts == std::vector<std::string>{"h2"});
  CHECK(fail->observed == "ddl is 2007:2000 there");
  CHECK(fail->remedy.commands == std::vector<std::string>{"usermod -u 2000 -g 2000 ddl"});
  FactTable group = ddl;
  group["user.gid"] = "2009";
  const auto groups =
      run_system_check("DATA-02", four({{"h1", ddl}, {"h2", ddl}, {"h3", ddl}, {"h4", group}}));
  CHECK(find(groups, Verdict::fail)->remedy.commands ==
        std::vector<std::string>{"groupmod -g 2000 ddl", "usermod -u 2000 -g 2000 ddl"});
  CHECK(verdict_of("DATA-02", ddl) == "pass");
  CHECK(verdict_of("DATA-02", {}) == "skip");
  FactTable denied = ddl;
  denied.insert({{"data.0.denied", "2"}, {"data.0.first_denied", "/data/mnist/a"}});
  Job job;
  job.data_paths = {"/data/mnist"};
  const Finding finding = evaluate_one("DATA-02", denied, job);
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.remedy.commands == std::vector<std::string>{"chmod -R a+rX /data/mnist"});
}

TEST_CASE("DIR-01: shared by some means shared by all") {
  const FactTable seen{{"dir.token.state", "seen"}, {"dir.token.waits", "0"}};
  const FactTable unseen{{"dir.token.state", "not seen"}, {"dir.token.waits", "0"}};
  const FactTable none{{"dir.token.state", "no directory"}};
  struct Row {
    const char* what;
    std::map<std::string, FactTable> others;
    const char *verdict, *host;
  };
  for (const Row& row :
       {Row{"all see it", {}, "pass", "h1"}, Row{"one has its own", {{"h2", unseen}}, "fail", "h2"},
        Row{"one has none", {{"h2", none}}, "fail", "h2"},
        Row{"each has its own",
            {{"h1", unseen}, {"h2", unseen}, {"h3", unseen}, {"h4", unseen}},
            "pass",
            "h1"},
        Row{"slow", {{"h4", {{"dir.token.state", "seen"}, {"dir.token.waits", "3"}}}}, "warn", "h4"},
        Row{"quick enough", {{"h4", {{"dir.token.state", "seen"}, {"dir.token.waits", "2"}}}}, "pass", "h4"},
        Row{"unknown", {{"h3", {}}}, "skip", "h3"}}) {
    CAPTURE(row.what);
    DoctorInput input;
    input.job.workdir = "/home/ddl/run";
    for (const char* host : {"h1", "h2", "h3", "h4"}) {
      const auto other = row.others.find(host);
      set_facts(input.add(host), other == row.others.end() ? seen : other->second);
    }
    std::string verdict;
    for (const Finding& finding : run_system_check("DIR-01", input)) {
      if (std::find(finding.hosts.begin(), finding.hosts.end(), row.host) != finding.hosts.end())
        verdict = verdict_name(finding.verdict);
    }
    CHECK(verdict == row.verdict);
  }
  CHECK(verdict_of("DIR-01", seen) == "skip");
}

TEST_CASE(
    "DIR-01: directories of their own are a fault of a job that is reported, and what lies over one is "
    "named") {
  DoctorInput input;
  input.job.workdir = "/home/ddl/run";
  input.job.program = {"./train"};
  const FactTable unseen{{"dir.token.state", "not seen"}, {"disk.work.mount", "/home/ddl/run"}};
  set_facts(input.driver_host, {{"disk.work.mount", "/home"}});
  set_facts(input.add("h1"), unseen);
  const auto findings = run_system_check("DIR-01", input);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].verdict == Verdict::fail);
  CHECK(findings[0].remedy.commands == std::vector<std::string>{"umount /home/ddl/run"});
}

TEST_CASE("DIR-01: a directory that comes from a server is mounted as the driver host does") {
  DoctorInput input;
  input.job.workdir = "/home/ddl/run";
  set_facts(
      input.driver_host,
      {{"disk.work.mount", "/home"}, {"disk.work.source", "nas:/export/home"}, {"disk.work.fs", "nfs4"}});
  set_facts(input.add("h1"), {{"dir.token.state", "no directory"}});
  const auto findings = run_system_check("DIR-01", input);
  CHECK(findings[0].remedy.commands ==
        std::vector<std::string>{"mkdir -p /home && mount -t nfs4 nas:/export/home /home"});
}

TEST_CASE("DIR-01: a directory that not even the driver host has is missing, not unknown") {
  Job job;
  job.workdir = "/nowdir";
  FactTable facts{{"disk.work.path", "/nowdir"},
                  {"disk.work.state", "missing"},
                  {"disk.work.existing", "/"},
                  {"disk.work.writable", "no"},
                  {"user.uid", "2000"}};
  Finding finding = evaluate_one("DIR-01", facts, job);
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.observed == "/nowdir is not there");
  CHECK(finding.remedy.commands == std::vector<std::string>{"install -d -o 2000 /nowdir"});
  CHECK(finding.remedy.needs_root);
  facts["disk.work.writable"] = "yes";
  finding = evaluate_one("DIR-01", facts, job);
  CHECK(finding.remedy.commands == std::vector<std::string>{"mkdir -p /nowdir"});
  CHECK_FALSE(finding.remedy.needs_root);
  facts["disk.work.state"] = "ok";
  CHECK(verdict_of("DIR-01", facts, job) == "skip");
}

TEST_SUITE_END();
