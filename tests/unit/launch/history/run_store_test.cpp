// SPDX-License-Identifier: MIT
#include "launch/history/run_store.hpp"

#include "base/text/error.hpp"
#include "launch/history/launch_record.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;
using namespace ddlrun::launch;

namespace {

struct Runs : tests::FakeSystem {
  tests::FakeHostInfo kernel;
  System system = interfaces();
  std::string base = "/state/ddlrun/runs";

  Runs() {
    environment.variables["XDG_STATE_HOME"] = "/state";
    environment.host_name = "login1";
    system.kernel = &kernel;
  }
  void add(const std::string& id, std::int64_t start_us = 0, const std::string& restart_of = "") {
    RunRecord record;
    record.id = id;
    record.start_us = start_us;
    record.restart_of = restart_of;
    kernel.add_directory(base + "/" + id);
    files.files[base + "/" + id + "/run.json"] = render_run_json(record);
  }
  std::string refusal(const std::string& word) {
    try {
      find_run_directory(system, word);
    } catch (const Error& error) {
      CHECK(error.message().hint.starts_with("ddlrun history"));
      return error.message().what;
    }
    return "";
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/history/run_store");

TEST_CASE("runs are listed newest first; those of one second by their own times") {
  Runs runs;
  CHECK(list_runs(runs.system).empty());
  runs.add("20261121-031914-b", 2'000'000);
  runs.add("20261121-031914-c", 1'000'000);
  runs.add("20261121-031914-a", 3'000'000);
  runs.add("20261122-000000-a");
  runs.add("20251231-235959-z");
  std::vector<std::string> ids;
  for (const ListedRun& run : list_runs(runs.system)) {
    ids.push_back(run.id);
    CHECK(run.directory == runs.base + "/" + run.id);
  }
  CHECK(ids == std::vector<std::string>{"20261122-000000-a", "20261121-031914-a", "20261121-031914-b",
                                        "20261121-031914-c", "20251231-235959-z"});
}

TEST_CASE("a damaged record does not hide the other runs") {
  Runs runs;
  runs.add("20261121-031914-a", 1'000'000);
  runs.add("20261121-031914-b", 2'000'000);
  runs.files.files[runs.base + "/20261121-031914-b/run.json"] = "{";
  CHECK(list_runs(runs.system).size() == 2);
  CHECK(list_runs(runs.system).front().id.ends_with("-a"));
  CHECK_THROWS_AS(read_run(runs.system, runs.base + "/20261121-031914-b", false), Error);
}

TEST_CASE("a run by its id, the beginning of one, a directory, last") {
  Runs runs;
  CHECK(runs.refusal("last") == "there are no runs yet");
  for (const char* foreign : {"last/run.json", "20261121-031914/run.json"}) runs.files.files[foreign] = "{}";
  runs.add("20261121-031914-abc");
  runs.add("20261121-031915-abd");
  runs.add("20261121-031915");
  runs.files.files["./results/run.json"] = "{}";
  CHECK(find_run_directory(runs.system, "./results") == "./results");
  CHECK(find_run_directory(runs.system, "last").ends_with("/20261121-031915-abd"));
  CHECK(find_run_directory(runs.system, "20261121-031914").ends_with("-abc"));
  CHECK(find_run_directory(runs.system, "20261121-031915")
            .ends_with("/20261121-031915"));  // whole, not a start
  CHECK(runs.refusal("2027") == "no run has an ID that begins with this, and no run belongs to such a job");
  CHECK(runs.refusal("./none") == "there is no run in this directory: no run.json");
  CHECK(runs.refusal("20261121") ==
        "3 runs have an ID that begins with this: 20261121-031915-abd, 20261121-031915 and 1 more");
}

TEST_CASE("a run by the name of its directory") {
  Runs runs;
  const auto add_elsewhere = [&](const std::string& id, const std::string& directory) {
    runs.files.files[directory + "/run.json"] = render_run_json(RunRecord());
    runs.kernel.add_directory(runs.base + "/" + id);
    runs.files.files[runs.base + "/" + id + "/directory"] = directory + "\n";
  };
  add_elsewhere("20261121-031914-abc", "/work/one/run.4711");
  add_elsewhere("20261121-031915-abd", "/work/one/trial");
  add_elsewhere("20261121-031916-abe", "/work/two/trial");
  using Directories = std::vector<std::string>;
  CHECK(find_named_runs(runs.system, "run.4711") == Directories{"/work/one/run.4711"});
  CHECK(find_named_runs(runs.system, "run.4712").empty());
  CHECK(find_named_runs(runs.system, "trial") == Directories{"/work/two/trial", "/work/one/trial"});
  CHECK(find_run_directory(runs.system, "run.4711") == "/work/one/run.4711");
  CHECK(runs.refusal("trial") == "2 runs have a directory of this name: /work/two/trial, /work/one/trial");
  add_elsewhere("20261121-031917-abf", "/work/two/trial");  // removed and made again: the same directory
  CHECK(find_named_runs(runs.system, "trial") == Directories{"/work/two/trial", "/work/one/trial"});
  // Of several, the one in the working directory; a run that is not listed is named by its path.
  runs.environment.workdir = "/work/one";
  runs.files.files["trial/run.json"] = runs.files.files["run.4711/run.json"] = "{}";
  CHECK(find_run_directory(runs.system, "trial") == "/work/one/trial");
  runs.environment.workdir = "/work/three";
  try {
    find_run_directory(runs.system, "run.4711");
    FAIL("found");
  } catch (const Error& error) {
    CHECK(error.message().what == "a run in another directory has this name: /work/one/run.4711");
    CHECK(error.message().hint.starts_with("./run.4711 "));
  }
}

TEST_CASE("a bare word is no path, but the refusal names the path") {
  Runs runs;
  runs.files.files["results/run.json"] = "{}";
  for (const bool has_runs : {false, true}) {
    if (has_runs) runs.add("20261121-031914-abc");
    try {
      find_run_directory(runs.system, "results");
      FAIL("found");
    } catch (const Error& error) {
      CHECK(error.message().hint.starts_with("./results "));
    }
  }
}

TEST_CASE("the first start of a run that was started again") {
  Runs runs;
  runs.add("1");
  runs.add("2", 0, "1");
  runs.add("3", 0, "2");
  CHECK(find_original_run(runs.system, runs.base + "/3") == runs.base + "/1");
  CHECK(find_original_run(runs.system, runs.base + "/1") == runs.base + "/1");
  runs.add("9", 0, "8");
  CHECK_THROWS_WITH_AS(find_original_run(runs.system, runs.base + "/9"),
                       doctest::Contains("this run was restarted from 8, whose record no longer exists"),
                       Error);
  runs.add("5", 0, "../../etc");
  CHECK_THROWS_AS(find_original_run(runs.system, runs.base + "/5"), Error);
  runs.add("6", 0, "7");
  runs.add("7", 0, "6");
  CHECK_THROWS_WITH_AS(find_original_run(runs.system, runs.base + "/6"), doctest::Contains("damaged"), Error);
}

TEST_CASE("a run without an end is running only if its very process is there") {
  Runs runs;
  RunRecord run;
  run.host = "login1";
  run.process = {4711, 100, "boot-1"};
  runs.files.files["/proc/sys/kernel/random/boot_id"] = "boot-1\n";
  const auto stat = [](const std::string& pid, const std::string& ticks) {
    return pid + " (ddlrun) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " + ticks + " 0 0\n";
  };
  runs.files.files["/proc/self/stat"] = stat("1", "5");
  CHECK(find_run_state(runs.system, run) == RunState::unseen);
  runs.files.files["/proc/4711/stat"] = stat("4711", "100");
  CHECK(find_run_state(runs.system, run) == RunState::running);
  runs.files.files["/proc/4711/stat"] = stat("4711", "101");  // the number belongs to another process
  CHECK(find_run_state(runs.system, run) == RunState::unseen);
  runs.files.files["/proc/4711/stat"] = stat("4711", "100");
  run.process.boot = "boot-0";
  CHECK(find_run_state(runs.system, run) == RunState::unseen);
  run.host = "login2";
  CHECK(find_run_state(runs.system, run) == RunState::elsewhere);
  run.end = RunEnd{"2026-11-21T03:19:14Z", 0, 0};
  CHECK(find_run_state(runs.system, run) == RunState::ended);
}

TEST_CASE("a run elsewhere is listed, found by its job, and leaves the list with its directory") {
  Runs runs;
  RunRecord record;
  record.id = "run.4711.pbs01";
  record.job = "4711.pbs01";
  const std::string directory = "/work/ddlrun-jobs/train-1/run.4711.pbs01";
  runs.files.files[directory + "/run.json"] = render_run_json(record);
  runs.environment.workdir = "/work";
  runs.clock.time = std::chrono::system_clock::time_point(std::chrono::seconds(1795231154));
  add_to_list(runs.system, "ddlrun-jobs/train-1/run.4711.pbs01");
  const std::string id = "20261121-031914-000000";  // make_directory of the fake
  CHECK(runs.files.files.at(runs.base + "/" + id + "/directory") == directory + "\n");
  runs.kernel.add_directory(runs.base + "/" + id);
  REQUIRE(list_runs(runs.system).size() == 1);
  CHECK(list_runs(runs.system).front().id == id);
  CHECK(find_run_directory(runs.system, "last") == directory);
  CHECK(find_run_directory(runs.system, id) == directory);
  CHECK(find_run_directory(runs.system, "4711.pbs01") == directory);
  CHECK(find_run_directory(runs.system, "4711") == directory);
  CHECK(runs.refusal("4712") != "");
  runs.files.files.erase(directory + "/run.json");
  CHECK(list_runs(runs.system).empty());
}

TEST_CASE("pruned runs are old and over") {
  Runs runs;
  for (const char* id : {"20261101-000000-old", "20261120-000000-new"}) {
    RunRecord ended;
    ended.id = id;
    ended.end.emplace();
    runs.kernel.add(runs.base + "/" + id + "/run.json");
    runs.files.files[runs.base + "/" + id + "/run.json"] = render_run_json(ended);
  }
  RunRecord running;  // begun on another host, without an end: it may still run
  running.id = "20261102-000000-far";
  running.host = "elsewhere";
  running.process.pid = 7;
  runs.kernel.add_directory(runs.base + "/20261102-000000-far");
  runs.files.files[runs.base + "/20261102-000000-far/run.json"] = render_run_json(running);
  runs.kernel.add_directory(runs.base + "/notes");
  const std::int64_t before = 1794528000;  // 2026-11-13
  CHECK(prune_runs(runs.system, before) == 1);
  CHECK_FALSE(runs.files.exists(runs.base + "/20261101-000000-old/run.json"));
  CHECK(runs.files.exists(runs.base + "/20261120-000000-new/run.json"));
  CHECK(runs.files.exists(runs.base + "/20261102-000000-far/run.json"));
}

TEST_SUITE_END();
