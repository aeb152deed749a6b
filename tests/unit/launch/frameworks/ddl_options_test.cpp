// SPDX-License-Identifier: MIT
#include "launch/frameworks/ddl_options.hpp"

#include "tests/unit/launch/frameworks/framework_jobs.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using frameworks::check_ddl_options;
using frameworks::Framework;
using frameworks::parse_ddl_options;
using tests::refusal_of;

TEST_SUITE_BEGIN("launch/frameworks/ddl_options");

TEST_CASE("DDL's option strings as its posts and its README have them") {
  struct Row {
    std::string text;
    char letter;
    std::string dims;
    std::size_t others;
  };
  const std::vector<Row> rows{{"-mode b:4x2x1 -dev_sync 1", 'b', "4x2x1", 2},
                              {"-mode n:4x1x1 -dev_sync 1", 'n', "4x1x1", 2},
                              {"-mode p:6x2x1x1 ", 'p', "6x2x1", 0},
                              {"-mode r:4x4x4 -dump_iter 100 -rebind_iter 50", 'r', "4x4x4", 4},
                              {"-dbg_level 2  -mode m:2x3x4x5", 'm', "2x3x4x5", 2},
                              {"-mode c:4x8x2 -dev_sync 0", 'c', "4x8x2", 2}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto options = parse_ddl_options(row.text, "-ddl");
    CHECK(options.letter == row.letter);
    REQUIRE(options.dims);
    CHECK(topology::render_dims(*options.dims) == row.dims);
    CHECK(options.others.size() == row.others);
    CHECK(options.unknown.empty());
  }
}

TEST_CASE("what DDL does not take is refused with its place") {
  struct Row {
    std::string text, what;
  };
  const std::vector<Row> rows{{"-mode x:4x2x1", "-mode x:4x2x1: a letter"},
                              {"-mode 4x2x1", "-mode 4x2x1: a letter"},
                              {"-mode b:", "-mode b: has no dims"},
                              {"-mode b:4x0x1", "-mode b:4x0x1:"},
                              {"-mode", "-mode has no value"},
                              {"-dev_sync 3", "-dev_sync 3: a number from 0 to 2"},
                              {"-dbg_level 9", "-dbg_level 9: a number from 0 to 2"},
                              {"-dump_iter -1", "-dump_iter -1: a number from 0"},
                              {"-rebind_iter ten", "-rebind_iter ten: a number from 0"},
                              {"mode b:4", "'mode' is no option of DDL"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::string found = refusal_of([&] { parse_ddl_options(row.text, "-ddl"); });
    CHECK(found.starts_with(row.what));
    CHECK(found.find("| -ddl |") != std::string::npos);
  }
}

TEST_CASE("the blog's own mistake: 8 ranks of a 4x2x1 rankfile with -mode b:4x1x1") {
  const auto options = parse_ddl_options("-mode b:4x1x1 -dev_sync 1", "-ddl");
  const std::string right = R"(-ddl "-mode b:4x2x1 -dev_sync 1")";
  CHECK(refusal_of([&] {
          check_ddl_options(options, {topology::parse_dims("4x2x1"), 8, 4}, "-ddl");
        }) == "-mode b:4x1x1 is for 4 ranks, the job has 8 (4x2x1) | -ddl | " + right);
  // Beside a rankfile no one reported the dims: ranks and ranks of a host say as much.
  CHECK(refusal_of([&] {
          check_ddl_options(options, {std::nullopt, 8, 4}, "-ddl");
        }) == "-mode b:4x1x1 is for 4 ranks, the job has 8 (4x2x1) | -ddl | " + right);
}

TEST_CASE("a mode of the same number of ranks and another shape numbers them otherwise") {
  struct Row {
    std::string mode, plan;
    bool fits;
  };
  const std::vector<Row> rows{{"4x2x1", "4x2x1", true},   {"4x2", "4x2x1", true},
                              {"4x2x1x1", "4x2x1", true}, {"2x4x1", "4x2x1", false},
                              {"4x4x4", "4x8x2", false},  {"8", "4x2x1", false}};
  for (const Row& row : rows) {
    CAPTURE(row.mode);
    const auto plan = topology::parse_dims(row.plan);
    const std::string found = refusal_of([&] {
      check_ddl_options(parse_ddl_options("-mode r:" + row.mode, "-ddl"),
                        {plan, plan.world_size(), plan.gpus_per_node}, "-ddl");
    });
    CHECK(found.empty() == row.fits);
    CHECK((row.fits || found.find("-ddl \"-mode r:" + row.plan + "\"") != std::string::npos));
  }
}

TEST_CASE("without -mode DDL makes one ring of all ranks, which is reported") {
  const auto remarks = check_ddl_options(parse_ddl_options("-dev_sync 1", "-ddl"),
                                         {topology::parse_dims("4x2x1"), 8, 4}, "-ddl");
  REQUIRE(remarks.size() == 1);
  CHECK(remarks[0].find("(r:8)") != std::string::npos);
  CHECK(remarks[0].find(R"(-ddl "-mode b:4x2x1 -dev_sync 1")") != std::string::npos);
}

TEST_CASE("Caffe's words: -gpu and -lms are checked, nothing is added") {
  struct Row {
    Command more;
    std::string what;  // "": taken
  };
  const std::vector<Row> rows{{{"-gpu", "0"}, ""},
                              {{"--gpu=0"}, ""},
                              {{"-gpu", "0", "-lms", "800000", "-bvlc"}, ""},
                              {{"-gpu", "all"}, "-gpu all: each of the 4 ranks"},
                              {{"--gpu=0,1"}, "--gpu 0,1: each of the 4 ranks"},
                              {{"-gpu", "0", "-lms", "lots"}, "-lms lots: a number of KB"}};
  const auto plan = tests::framework_plan("4x2x1", {"h1", "h2"});
  for (const Row& row : rows) {
    CAPTURE(row.more.front());
    Command program{"caffe", "train", "--solver=solver.prototxt", "-ddl", "-mode b:4x2x1 -dev_sync 1"};
    program.insert(program.end(), row.more.begin(), row.more.end());
    const auto request = tests::framework_request(Framework::caffe_ddl, plan, program);
    frameworks::FrameworkPlan made;
    const std::string found = refusal_of([&] { made = frameworks::plan_framework(request); });
    CHECK(found.starts_with(row.what));
    CHECK((row.what.empty() ? found.empty() && made.groups.empty() && made.shared.empty() : !found.empty()));
  }
  const auto one = tests::framework_plan("1x2x1", {"h1", "h2"});
  const Command all{"caffe", "train", "-gpu", "all", "-ddl", "-mode b:1x2x1"};
  CHECK(
      refusal_of([&] { plan_framework(tests::framework_request(Framework::caffe_ddl, one, all)); }).empty());
}

TEST_CASE("DDL_OPTIONS comes from the plan unless it is set, then it is checked and passed on") {
  const auto plan = tests::framework_plan("4x2x3", {"a", "b", "c", "d", "e", "f"});
  auto request = tests::framework_request(Framework::ddl, plan, {"python", "ddl_mnist.py"});
  CHECK(tests::variables_of(request, frameworks::plan_framework(request), 0).at("DDL_OPTIONS") ==
        "-mode b:4x2x3");
  request.environment["DDL_OPTIONS"] = "-mode r:4x2x3 -dump_iter 10";
  const auto made = frameworks::plan_framework(request);
  REQUIRE(made.shared.size() == 1);
  CHECK(made.shared[0].from_user);
  request.environment["DDL_OPTIONS"] = "-mode r:4x2x1";
  CHECK(refusal_of([&] { plan_framework(request); }) ==
        "-mode r:4x2x1 is for 8 ranks, the job has 24 (4x2x3) | DDL_OPTIONS | -x DDL_OPTIONS=\"-mode "
        "r:4x2x3\"");
}

TEST_CASE("--ddl-mode with a rankfile: dims of its header or of its hosts") {
  const auto plan = tests::framework_plan("2x2x1", {"a", "b"});  // rank 0 on a, 1 on b, 2 on a, 3 on b
  auto request = tests::framework_request(Framework::ddl, plan);
  request.plan = nullptr;
  request.dims.reset();
  request.ddl_mode = "b";
  const auto options = [&] {
    return tests::variables_of(request, frameworks::plan_framework(request), 0).at("DDL_OPTIONS");
  };
  CHECK(options() == "-mode b:2x2x1x1");
  request.rankfile_dims = topology::parse_dims("2x1x2");
  CHECK(options() == "-mode b:2x1x2x1");
  request.rankfile_dims = topology::parse_dims("4x2x1");  // of another job
  CHECK(options() == "-mode b:2x2x1x1");
  const auto packed = tests::framework_plan("2x2x1", {"a", "b"}, topology::RankOrder::packed);
  request.rank_map = launch::make_rank_map(packed);
  CHECK(refusal_of([&] { plan_framework(request); }).starts_with("the dims of -mode are not known: "));
}

TEST_CASE("DDL with torch: torch.distributed's variables too") {
  const auto plan = tests::framework_plan("2x2x1", {"a", "b"});
  auto request = tests::framework_request(Framework::ddl, plan);
  CHECK(tests::variables_of(request, frameworks::plan_framework(request), 2).count("RANK") == 0);
  request.uses_torch = true;
  const auto variables = tests::variables_of(request, frameworks::plan_framework(request), 2);
  CHECK(variables.at("RANK") == "2");  // the second rank of host a
  CHECK(variables.at("LOCAL_RANK") == "1");
  CHECK(variables.at("WORLD_SIZE") == "4");
  CHECK(variables.at("MASTER_ADDR") == "a");
  CHECK(variables.at("DDL_OPTIONS") == "-mode b:2x2x1");
}

TEST_CASE("--ddl-mode and --ddl-arg make DDL_OPTIONS; nothing else may") {
  const auto plan = tests::framework_plan("4x2x3", {"a", "b", "c", "d", "e", "f"});
  auto request = tests::framework_request(Framework::ddl, plan, {"python", "ddl_mnist.py"});
  const auto options = [&] {
    return tests::variables_of(request, frameworks::plan_framework(request), 0).at("DDL_OPTIONS");
  };
  request.ddl_arguments = {"-dump_iter 10"};
  CHECK(options() == "-mode b:4x2x3x1 -dump_iter 10");
  request.ddl_mode = "r";
  CHECK(options() == "-mode r:4x2x3x1 -dump_iter 10");
  request.environment["DDL_OPTIONS"] = "-mode b";
  CHECK(refusal_of([&] { plan_framework(request); }) ==
        "--ddl-mode and DDL_OPTIONS both set how DDL sums | --ddl-mode | one of the two: leave --ddl-mode "
        "out, or DDL_OPTIONS");
  request.environment.clear();
  request.framework = Framework::caffe_ddl;
  request.program = {"caffe", "train", "-gpu", "0", "-ddl", "-mode b:4x2x3"};
  request.ddl_mode.clear();
  CHECK(
      refusal_of([&] { plan_framework(request); }) ==
      "--ddl-arg and -ddl both set how DDL sums | --ddl-arg | one of the two: leave --ddl-arg out, or -ddl");
}

TEST_SUITE_END();
