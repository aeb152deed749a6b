// SPDX-License-Identifier: MIT
#include "launch/rank/apply_rank_setup.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

namespace {

constexpr const char* one_rank = R"({"schema": "ddlrun.ranks/1", "hosts": "h1", "kind_of_host": [0],
  "ranks": ["0"], "kinds": [[{}]], "groups": [{"first": 0, "ranks": 1}]})";

struct Prepared : tests::FakeSystem {
  std::string file;
  // "WHAT | HINT" of the error; "" where the rank is prepared.
  std::string refusal(ErrorKind kind) {
    System system = interfaces();
    try {
      launch::prepare_rank(system, file, {"true"});
    } catch (const Error& error) {
      CHECK(error.kind() == kind);
      return error.message().what + " | " + error.message().hint;
    }
    return "";
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/rank/apply_rank_setup");

TEST_CASE("a rank without a rank map, without a rank, or beyond the plan") {
  Prepared prepared;
  CHECK(prepared.refusal(ErrorKind::usage) ==
        "--rank-map needs the variable DDLRUN_RANKS, which did not arrive | ddlrun launch, which sets it; or "
        "--rank-map-file FILE");
  prepared.environment.variables["DDLRUN_RANKS"] = one_rank;
  CHECK(
      prepared.refusal(ErrorKind::usage).starts_with("--rank-map needs a rank, and no launcher has set one"));
  prepared.environment.variables["PMI_RANK"] = "3";
  CHECK(prepared.refusal(ErrorKind::request) ==
        "the launcher started rank 3, the plan has ranks 0 to 0 | ddlrun launch, without -n among --mpi-arg");
}

TEST_CASE("the rank map is read from a file where one is named") {
  Prepared prepared;
  prepared.file = "/map";
  prepared.environment.variables["DDLRUN_RANKS"] = "not this";
  CHECK(prepared.refusal(ErrorKind::request).starts_with("cannot read /map"));
  prepared.files.files["/map"] = one_rank;
  prepared.environment.variables["PMI_RANK"] = "0";
  System system = prepared.interfaces();
  CHECK(launch::prepare_rank(system, "/map", {"prog", "-a"}).program == Command{"prog", "-a"});
}

TEST_CASE("a directory that is not there stops the rank") {
  launch::RankSetup setup;
  setup.workdir = "/no/such/directory";
  try {
    launch::apply_rank_setup(setup, "rank 3 on h1");
    FAIL("it was entered");
  } catch (const Error& error) {
    CHECK(error.message().what ==
          "the working directory /no/such/directory cannot be entered: No such file or directory");
    CHECK(error.message().where == "rank 3 on h1");
  }
}

TEST_CASE("what the driver reports of a GPU") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  CHECK(launch::read_gpu(system, "0002:01:00.0").uuid.empty());
  // As driver 535 writes it for a P100.
  fake.files.files["/proc/driver/nvidia/gpus/0002:01:00.0/information"] =
      "Model: \t\t Tesla P100-SXM2-16GB\nGPU UUID: \t GPU-8932f937-d72c-4106-c12f-20bd9faed9f6\n"
      "Device Minor: \t 3\n";
  const launch::GpuFacts facts = launch::read_gpu(system, "0002:01:00.0");
  CHECK(facts.uuid == "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
  CHECK(facts.device_minor == 3);
  CHECK_FALSE(facts.is_split);
}

TEST_SUITE_END();
