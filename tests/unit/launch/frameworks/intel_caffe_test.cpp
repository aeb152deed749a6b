// SPDX-License-Identifier: MIT
// Expected values: by hand from Intel Caffe's scripts/set_env.sh (set_mlsl_vars, init_mpi_envs,
// set_openmp_envs) for the founding document's job: 4 nodes of 68 cores, --network opa --ppn 1
// --num_omp_threads 60.
#include "launch/frameworks/intel_caffe_options.hpp"
#include "tests/unit/launch/frameworks/framework_jobs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using frameworks::Framework;
using frameworks::IntelCaffeOptions;
using frameworks::IntelCaffeRun;
using tests::framework_plan;
using tests::framework_request;
using tests::refusal_of;
using tests::variables_of;

namespace {

std::map<std::string, std::string> caffe_variables(const IntelCaffeOptions& options,
                                                   const std::string& dims = "1x4x1", int packages = 1,
                                                   int cores = 68, EnvVars environment = {}) {
  std::vector<std::string> hosts;
  for (std::uint32_t i = 0; i < topology::parse_dims(dims).host_count(); ++i)
    hosts.push_back("n" + std::to_string(i));
  const auto plan = framework_plan(dims, hosts, topology::RankOrder::ddl,
                                   topology::regular_machine(packages, cores, 1, "m"));
  auto request = framework_request(Framework::intel_caffe, plan);
  request.intel_caffe = options;
  request.environment = std::move(environment);
  return variables_of(request, plan_framework(request), 0);
}

IntelCaffeOptions knl(int threads) {
  IntelCaffeOptions options;
  options.by_script = true;
  options.cpu = "knl";
  options.omp_threads = threads;
  return options;
}

}  // namespace

TEST_SUITE_BEGIN("launch/frameworks/intel_caffe");

TEST_CASE("the founding document's job on KNL") {
  const std::map<std::string, std::string> expected{
      {"MLSL_NUM_SERVERS", "4"},
      {"MLSL_SERVER_AFFINITY", "6,7,8,9"},
      {"MLSL_LOG_LEVEL", "0"},
      {"I_MPI_FABRICS", "shm:tmi"},
      {"I_MPI_TMI_PROVIDER", "psm2"},
      {"HFI_NO_CPUAFFINITY", "1"},
      {"I_MPI_DYNAMIC_CONNECTION", "0"},
      {"I_MPI_SCALABLE_OPTIMIZATION", "0"},
      {"I_MPI_PIN_MODE", "lib"},
      {"I_MPI_PIN_DOMAIN", "node"},
      {"PSM2_MQ_RNDV_HFI_WINDOW", "2097152"},
      {"I_MPI_FALLBACK", "0"},
      {"I_MPI_DEBUG", "6"},
      {"OMP_NUM_THREADS", "60"},
      {"KMP_HW_SUBSET", "1t"},
      {"KMP_AFFINITY", "proclist=[0-5,14-67],granularity=thread,explicit"},
      {"INTERNAL_THREADS_PIN", "66,67"},
      {"GLOG_minloglevel", "0"}};
  CHECK(caffe_variables(knl(60)) == expected);
}

// src/comm_ep.cpp of intel/MLSL: a rank without MLSL_ROOT ends.
TEST_CASE("what MLSL needs of the user's environment is passed on, and missed where it is not there") {
  const auto plan =
      framework_plan("1x2x1", {"a", "b"}, topology::RankOrder::ddl, topology::regular_machine(1, 68, 1, "m"));
  auto request = framework_request(Framework::intel_caffe, plan);
  request.intel_caffe = knl(60);
  const auto reported = [](const frameworks::FrameworkPlan& made) {
    return std::ranges::any_of(made.remarks, [](const std::string& one) {
      return one.find("MLSL_ROOT is not set") != std::string::npos;
    });
  };
  CHECK(reported(plan_framework(request)));
  request.environment = {{"MLSL_ROOT", "/opt/mlsl"},
                         {"MLSL_HEAP_SIZE_GB", "8"},
                         {"I_MPI_ROOT", "/opt/mpi"},
                         {"MLSL_NUM_SERVERS", "2"},
                         {"OTHER", "1"}};
  const auto made = plan_framework(request);
  CHECK_FALSE(reported(made));
  const auto found = variables_of(request, made, 0);
  for (const char* name : {"MLSL_ROOT", "MLSL_HEAP_SIZE_GB", "I_MPI_ROOT", "MLSL_NUM_SERVERS"})
    CHECK(found.at(name) == request.environment.at(name));
  CHECK_FALSE(found.contains("OTHER"));
  CHECK(std::ranges::count(made.shared, "MLSL_NUM_SERVERS", &frameworks::SharedVariable::name) == 1);
}

TEST_CASE("threads, servers and cores, as set_openmp_envs counts them") {
  struct Row {
    IntelCaffeOptions options;
    std::string dims;
    int packages, cores;
    std::string threads, servers, server_cores, affinity;
  };
  IntelCaffeOptions skx, three, none, tcp;
  skx.cpu = three.cpu = none.cpu = tcp.cpu = "skx";
  three.servers = 3;
  none.servers = 0;
  tcp.network = "tcp";
  tcp.netmask = "eth0";
  const std::string fine = "granularity=fine,compact,1,0";
  const std::vector<Row> rows{
      {knl(0), "1x4x1", 1, 68, "64", "4", "6,7,8,9", "proclist=[0-5,10-67],granularity=thread,explicit"},
      {skx, "1x2x1", 2, 20, "38", "2", "6,7", "proclist=[0-5,8-39],granularity=thread,explicit"},
      {three, "1x2x1", 2, 20, "37", "3", "6,7,8", "proclist=[0-5,9-39],granularity=thread,explicit"},
      {none, "1x2x1", 1, 8, "8", "0", "", "proclist=[0-7],granularity=thread,explicit"},
      {tcp, "1x2x1", 1, 7, "5", "2", "5,6",
       "proclist=[0-4],granularity=thread,explicit"},         // too few for core 6
      {skx, "2x2x1", 2, 20, "18", "2", "18,19,38,39", fine},  // --ppn 2: cores/ppn - servers
  };
  for (const Row& row : rows) {
    CAPTURE(row.affinity);
    auto found = caffe_variables(row.options, row.dims, row.packages, row.cores);
    CHECK(found["OMP_NUM_THREADS"] == row.threads);
    CHECK(found["MLSL_NUM_SERVERS"] == row.servers);
    CHECK(found["MLSL_SERVER_AFFINITY"] == row.server_cores);
    CHECK(found["KMP_AFFINITY"] == row.affinity);
  }
}

TEST_CASE("Intel MPI's variables for TCP, and masks where a host has several ranks") {
  IntelCaffeOptions tcp;
  tcp.network = "tcp";
  tcp.netmask = "10.1.0.0/16";
  tcp.iallreduce = "5";
  tcp.debug = true;
  tcp.priority = true;
  auto found = caffe_variables(tcp, "2x2x1", 2, 8);
  CHECK(found["I_MPI_FABRICS"] == "shm:tcp");
  CHECK(found["I_MPI_TCP_NETMASK"] == "10.1.0.0/16");
  CHECK(found.count("I_MPI_TMI_PROVIDER") == 0);
  CHECK(found["I_MPI_PIN_DOMAIN"] == "[ff,ff00]");
  CHECK(found["I_MPI_ADJUST_IALLREDUCE"] == "5");
  CHECK(found["MLSL_LOG_LEVEL"] == "3");
  CHECK(found["MLSL_MSG_PRIORITY"] == "1");
  CHECK(found["MLSL_MSG_PRIORITY_THRESHOLD"] == "10000");
}

TEST_CASE("one rank alone has neither servers nor MPI") {
  const auto found = caffe_variables({}, "1", 1, 8);
  CHECK(found.at("OMP_NUM_THREADS") == "8");
  CHECK(found.count("MLSL_NUM_SERVERS") + found.count("I_MPI_FABRICS") == 0);
}

TEST_CASE("too many threads: both numbers; the environment's own count is received") {
  CHECK(refusal_of([] { caffe_variables(knl(65)); }) ==
        "65 threads, a rank has 64 cores that no server takes | --num_omp_threads | --num_omp_threads 64, or "
        "fewer "
        "--num_mlsl_servers");
  CHECK(caffe_variables(knl(0), "1x4x1", 1, 68, {{"OMP_NUM_THREADS", "60"}}).at("KMP_AFFINITY") ==
        "proclist=[0-5,14-67],granularity=thread,explicit");
  IntelCaffeOptions many;
  many.servers = 8;
  CHECK(refusal_of([&] {
          caffe_variables(many, "1x2x1", 1, 8);
        }).starts_with("8 MLSL servers and a thread need 9 cores, a rank has 8"));
}

TEST_CASE("launch --framework intel-caffe is not sent to options of the script") {
  const auto threads = refusal_of([] { caffe_variables({}, "1x4x1", 1, 68, {{"OMP_NUM_THREADS", "68"}}); });
  CHECK(threads ==
        "68 threads, a rank has 66 cores that no server takes | OMP_NUM_THREADS | -x OMP_NUM_THREADS=66, or "
        "fewer "
        "ranks a host by DIMS");
  const auto servers = refusal_of([] { caffe_variables({}, "2x2x1", 1, 4); });
  CHECK(servers.starts_with(
      "2 MLSL servers and a thread need 3 cores, a rank has 2 | --framework intel-caffe | fewer"));
  CHECK(servers.find("ddlrun intelcaffe, which takes --num_mlsl_servers") != std::string::npos);
}

TEST_CASE("the script's words become Caffe's") {
  IntelCaffeRun run;
  run.solver = "s.prototxt";
  CHECK(intel_caffe_command(run) == Command{"caffe", "train", "--solver", "s.prototxt"});
  run.weights = "w";
  run.snapshot = "x";
  run.engine = "MKLDNN";
  CHECK(intel_caffe_command(run) == Command{"caffe", "train", "--solver", "s.prototxt", "--snapshot=x",
                                            "--weights", "w", "--engine=MKLDNN"});
  IntelCaffeRun time;
  time.mode = "time";
  time.model = "m";
  CHECK(refusal_of([&] { intel_caffe_command(time); }).find("--iteration") != std::string::npos);
  time.iterations = 9;
  CHECK(intel_caffe_command(time) == Command{"caffe", "time", "--iterations", "9", "--model", "m"});
  time.mode = "tune";
  CHECK(refusal_of([&] { intel_caffe_command(time); }).starts_with("'tune' is not one of train, time"));
  IntelCaffeOptions options;
  options.network = "tcp";
  CHECK(refusal_of([&] { check_intel_caffe(options); }).find("| --netmask |") != std::string::npos);
  options.network = "ib";
  CHECK(refusal_of([&] { check_intel_caffe(options); }).starts_with("'ib' is not one of opa, tcp"));
}

TEST_CASE("what solver and net name") {
  CHECK(frameworks::find_net_file("# net: \"old\"\nnet: \"models/alexnet/train_val.prototxt\"\n").value() ==
        "models/alexnet/train_val.prototxt");
  CHECK(!frameworks::find_net_file("test_iter: 1000\n"));
  const std::string net =
      "layer { name: \"data\" data_param {\n  source: \"examples/train_lmdb\"\n  backend: LMDB\n } }\n"
      "layer {\n  data_param {\n    source: 'examples/val_lmdb'  # resized\n    backend: LMDB\n  }\n}\n"
      "# source: \"no\"\nmean_source: \"no\"\n";
  CHECK(frameworks::find_lmdb_sources(net) ==
        std::vector<std::string>{"examples/train_lmdb", "examples/val_lmdb"});
  CHECK(frameworks::find_lmdb_sources("image_data_param { source: \"list.txt\" }").empty());
}

TEST_CASE("which CPU, as detect_cpu reports it by the model") {
  struct Row {
    std::string model, cpu;
  };
  const std::vector<Row> rows{{"Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz", "knl"},
                              {"Intel(R) Xeon Phi(TM) CPU 7295 @ 1.50GHz", "knm"},
                              {"Intel(R) Xeon(R) CPU E5-2697 v4 @ 2.30GHz", "bdw"},
                              {"Intel(R) Xeon(R) Platinum 8180 CPU @ 2.50GHz", "skx"},
                              {"AMD EPYC 7742", "skx"}};
  for (const Row& row : rows) CHECK(frameworks::cpu_of_model(row.model) == row.cpu);
}

TEST_SUITE_END();
