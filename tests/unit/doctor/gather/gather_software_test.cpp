// SPDX-License-Identifier: MIT
// The gatherers of the software subject on made-up hosts, and on this one against other tools.
#include "base/text/text.hpp"
#include "doctor/gather/content_hash.hpp"
#include "doctor/gather/software.hpp"
#include "doctor/model/job.hpp"
#include "tests/support/elf_image.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/support/real_host.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

using namespace ddlrun;
using namespace ddlrun::doctor;
using ddlrun::tests::ElfImage;
using ddlrun::tests::FakeHost;

namespace {

Facts gather_software(FakeHost& host, std::string_view name) {
  return host.gather(software_gatherers(), name);
}

std::string library(const std::string& soname, const std::string& version) {
  return ElfImage{{}, "", "", soname}.bytes() + '\0' + "v" + version + '\0' + "more";
}

// An Open MPI as packages install it.
void install(FakeHost& host, const std::string& prefix, const std::string& version) {
  for (const char* program : {"orterun", "orted"}) {
    host.put(prefix + "/bin/" + program, ElfImage{{"libopen-rte.so.40"}, "", prefix + "/lib", ""}.bytes());
  }
  host.kernel.add_link(prefix + "/bin/mpirun", "orterun");
  host.put(prefix + "/lib/libopen-rte.so.40",
           ElfImage{{"libopen-pal.so.40"}, "", prefix + "/lib", "libopen-rte.so.40"}.bytes());
  host.put(prefix + "/lib/libopen-pal.so.40", library("libopen-pal.so.40", version));
}

ProcessResult says(const std::string& out, int status = 0) {
  ProcessResult result;
  result.out = out;
  result.exit_status = status;
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/gather_software");

TEST_CASE("the version of Open MPI is read from its libraries, and nothing is run") {
  FakeHost host;
  host.system.environment.variables["PATH"] = "/opt/new/bin:/usr/bin";
  install(host, "/usr", "4.1.4");
  install(host, "/opt/new", "4.0.7rc2");
  const Facts facts = gather_software(host, "mpi");
  CHECK(facts.is("mpi.program.mpirun", "/opt/new/bin/mpirun"));
  CHECK(facts.is("mpi.real.mpirun", "/opt/new/bin/orterun"));
  CHECK(facts.is("mpi.vendor", "Open MPI"));
  CHECK(facts.is("mpi.version", "4.0.7rc2"));
  CHECK(facts.is("mpi.version_source", "/opt/new/lib/libopen-pal.so.40"));
  CHECK(facts.is("mpi.daemon_version", "4.0.7rc2"));
  CHECK(facts.why_missing("mpi.program.prted") == "not in PATH");
  CHECK(host.system.processes.ran.empty());
}

TEST_CASE("a wrapper is asked") {
  FakeHost host;
  host.system.environment.variables["PATH"] = "/site/bin";
  host.put("/site/bin/mpirun", "#!/bin/sh\nexec /opt/x/mpirun \"$@\"\n");
  host.put("/site/bin/orted", "#!/bin/sh\n");
  struct Row {
    const char *stderr_text, *version;
  };
  for (const Row& row :
       {Row{"mpirun (Open MPI) 4.0.7\n\nReport bugs", "4.0.7"},
        Row{"mpirun (Open MPI) 5.0.0rc12\n", "5.0.0rc12"},
        Row{"Intel(R) MPI Library for Linux* OS, Version 2021.9.0 Build 20230307", "2021.9.0"},
        Row{"HYDRA build details:\n    Version:   4.0.2\n", "4.0.2"}, Row{"no numbers", ""},
        Row{"1.2 and 3", ""}}) {
    CAPTURE(row.stderr_text);
    host.system.processes.answer = [&](const Command& command) {
      return command[0] == "/site/bin/mpirun" ? says(row.stderr_text) : says("", 1);
    };
    const Facts facts = gather_software(host, "mpi");
    CHECK(facts.text("mpi.version").value_or("") == row.version);
  }
}

TEST_CASE("no MPI is a fact too") {
  FakeHost host;
  host.system.environment.variables["PATH"] = "/usr/bin";
  const Facts facts = gather_software(host, "mpi");
  CHECK(facts.why_missing("mpi.version") == "no mpirun in PATH");
  CHECK(facts.why_missing("mpi.vendor") == "no MPI in PATH");
}

TEST_CASE("parameter files without their comments") {
  FakeHost host;
  host.kernel.who.home = "/home/u";
  host.put("/home/u/.openmpi/mca-params.conf", "# mine\nbtl = tcp,self  # two\n\n   \ncoll=^tuned\n");
  CHECK(gather_software(host, "mpi").list("mpi.parameter_files") ==
        std::vector<std::string_view>{"/home/u/.openmpi/mca-params.conf: btl = tcp,self",
                                      "/home/u/.openmpi/mca-params.conf: coll=^tuned"});
}

TEST_CASE("the program: there, its libraries, its contents") {
  FakeHost host;
  host.request.executable = "./train";
  host.request.workdir = "/job";
  CHECK(gather_software(host, "programs").why_missing("program.path") == "no file /job/./train");
  host.put("/job/./train", ElfImage{{"libmpi.so.40", "libgone.so"}, "", "/home/u/lib:/opt/lib", ""}.bytes())
      .mode = 0755;
  host.put("/opt/lib/libmpi.so.40", ElfImage{{}, "", "", "libmpi.so.40"}.bytes());
  Facts facts = gather_software(host, "programs");
  CHECK(facts.is("program.kind", "elf"));
  CHECK(facts.is("program.libmpi", "/opt/lib/libmpi.so.40"));
  CHECK(facts.list("program.missing") == std::vector<std::string_view>{"libgone.so, needed by /job/./train"});
  CHECK(facts.list("program.home_paths") == std::vector<std::string_view>{"/home/u/lib"});
  CHECK(facts.is("program.executable", "yes"));
  const std::string hash(facts.text("program.hash").value());
  CHECK(hash.size() == 16);
  host.put("/job/./train", ElfImage{{"libmpi.so.40", "libgonf.so"}, "", "/home/u/lib:/opt/lib", ""}.bytes());
  CHECK_FALSE(gather_software(host, "programs").is("program.hash", hash));
}

TEST_CASE("scripts, and what else the words name") {
  FakeHost host;
  host.system.environment.variables["PATH"] = "/usr/bin";
  host.request.executable = "run.sh";
  host.request.program_files = {"train.py", "gone.py"};
  host.request.workdir = "/job";
  host.put("/usr/bin/run.sh", "#! /opt/py/python3 -u\nprint()\n");
  host.put("/job/train.py", "print(1)\n");
  const Facts facts = gather_software(host, "programs");
  CHECK(facts.is("program.kind", "script"));
  CHECK(facts.is("program.interpreter", "missing: /opt/py/python3"));
  CHECK(facts.number("program.file.0.size") == 9);
  CHECK(facts.why_missing("program.file.1.size") == "no file /job/gone.py");
  host.request.executable = "nowhere";
  CHECK(gather_software(host, "programs").why_missing("program.path") == "nowhere is not in PATH");
  host.request.executable = "python";
  CHECK_FALSE(gather_software(host, "programs").is("program.near", "python3"));
  host.put("/usr/bin/python3", "");
  CHECK(gather_software(host, "programs").is("program.near", "python3"));
}

TEST_CASE("large files are left to level full") {
  FakeHost host;
  host.request.executable = "/app/big";
  host.put("/app/big", "x").size_bytes = 5u << 20;
  CHECK(gather_software(host, "programs").why_missing("program.hash") == "5 MiB: read at level full only");
  CHECK(gather_software(host, "program-contents").text("program.hash"));
}

TEST_CASE("a fingerprint changes with every bit, with the length, with the order of words") {
  const auto print = [](std::string_view text) {
    ContentHash hash;
    hash.add(text);
    return hash.value();
  };
  const std::string text = "sixteen bytes of text and some more";
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      CHECK(print(other) != print(text));
    }
  }
  CHECK(print(std::string(8, '\0')) != print(std::string(9, '\0')));
  CHECK(print("abcdefgh12345678") != print("12345678abcdefgh"));
  ContentHash pieces;
  pieces.add("12345678");
  pieces.add("abc");
  CHECK(pieces.value() == print("12345678abc"));
}

TEST_CASE("settings and secrets of the environment") {
  FakeHost host;
  host.request.is_driver_host = true;
  host.system.environment.variables = {{"NCCL_DEBUG", "INFO"},
                                       {"OMPI_MCA_btl", "tcp"},
                                       {"OMPI_MCA_orte_x", "1"},
                                       {"LD_PRELOAD", "/x.so"},
                                       {"HF_TOKEN", "hf_very_secret"},
                                       {"HOME", "/home/u"},
                                       {"TOKENIZERS_PARALLELISM", "false"},
                                       {"SLURM_JOB_ID", "12"},
                                       {"LOADEDMODULES", "a:b"}};
  const Facts facts = gather_software(host, "environment");
  CHECK(facts.list("environment.settings") ==
        std::vector<std::string_view>{"LD_PRELOAD=/x.so", "NCCL_DEBUG=INFO", "OMPI_MCA_btl=tcp"});
  CHECK(facts.list("environment.secrets") == std::vector<std::string_view>{"HF_TOKEN"});
  CHECK(facts.is("environment.SLURM_JOB_ID", "12"));
  CHECK(facts.is("environment.modules", "a:b"));
  for (const auto& [name, fact] : facts.all()) CHECK(fact.text.find("very_secret") == std::string::npos);
}

TEST_CASE("the shape and the files in a program's words") {
  struct Row {
    std::vector<std::string> program;
    const char *dims, *file;
  };
  for (const Row& row :
       {Row{{"python", "mnist.py", "-mode", "b:4x2x1"}, "4x2x1", "mnist.py"},
        Row{{"python", "mnist.py", "--mode=p:6x2x1x1"}, "6x2x1", "mnist.py"},
        Row{{"python", "-m", "mnist"}, "", ""}, Row{{"python", "-u", "/a/b.py"}, "", "/a/b.py"},
        Row{{"./train", "x.py"}, "", ""}, Row{{"bash", "-c", "echo"}, "", ""},
        Row{{"apptainer", "exec", "--nv", "i.sif", "x"}, "", "i.sif"}, Row{{"./train", "-mode", "b"}, "", ""},
        Row{{"./train", "-mode"}, "", ""}, Row{{"./train", "-mode", "0x2"}, "", ""}}) {
    CAPTURE(row.program[0]);
    const auto dims = find_program_dims(row.program);
    CHECK((dims ? topology::render_dims(*dims) : "") == row.dims);
    const auto files = find_program_files(row.program);
    CHECK((files.empty() ? "" : files[0]) == row.file);
  }
  CHECK(with_program_dims({"x", "-mode", "b:4x1x1"}, topology::parse_dims("4x2x1"))[2] == "b:4x2x1");
  CHECK(with_program_dims({"x", "--mode=4x1x1"}, topology::parse_dims("4x2x1"))[1] == "--mode=4x2x1");
}

TEST_CASE("modes of ssh's files, and forwarding by ssh's own word") {
  FakeHost host;
  host.request.is_driver_host = true;
  host.request.names = {"h1", "h2"};
  host.kernel.who.home = "/home/u";
  host.kernel.add_directory("/home/u").mode = 0775;
  host.kernel.add_directory("/home/u/.ssh").mode = 0700;
  host.put("/home/u/.ssh/id_ed25519", "").mode = 0640;
  host.put("/home/u/.ssh/id_ed25519.pub", "").mode = 0644;
  host.put("/etc/ssh/ssh_config",
           "Include /etc/ssh/ssh_config.d/*.conf\nHost *\n#   ForwardAgent yes\n    SendEnv LANG\n");
  Facts facts = gather_software(host, "ssh");
  CHECK(facts.is("ssh.mode.home", "775"));
  CHECK(facts.list("ssh.mode.keys") == std::vector<std::string_view>{"id_ed25519 640"});
  CHECK(facts.is("ssh.key", "/home/u/.ssh/id_ed25519"));
  CHECK(facts.text("ssh.forward") == "");
  CHECK(host.system.processes.ran.empty());
  host.put("/home/u/.ssh/config", "Host h2\n  ForwardAgent yes\n");
  host.system.processes.answer = [](const Command& command) {
    return says(command.back() == "h2" ? "user u\nforwardagent yes\nforwardx11 no\n" : "forwardagent no\n");
  };
  facts = gather_software(host, "ssh");
  CHECK(facts.list("ssh.forward") == std::vector<std::string_view>{"h2 agent"});
  CHECK(host.system.processes.ran.size() == 2);
}

TEST_CASE("Slurm's states of the job's hosts") {
  FakeHost host;
  host.request.is_driver_host = true;
  host.request.names = {"n1", "n2.cluster"};
  host.system.environment.variables["PATH"] = "/usr/bin";
  CHECK_FALSE(gather_software(host, "scheduler").text("scheduler.slurm.answer"));
  CHECK(host.system.processes.ran.empty());
  host.put("/etc/slurm/slurm.conf", "ClusterName=x\nKillWait=90\n");
  host.put("/usr/bin/sinfo", "");
  host.system.processes.answer = [](const Command&) {
    return says("n1|idle|none\nn2|drained|bad disk\nn2|drained|bad disk\nn3|down*|Not responding\n");
  };
  const Facts facts = gather_software(host, "scheduler");
  CHECK(facts.is("scheduler.slurm.node.n1", "idle"));
  CHECK(facts.is("scheduler.slurm.node.n2", "drained|bad disk"));
  CHECK_FALSE(facts.text("scheduler.slurm.node.n3"));
  CHECK(facts.list("scheduler.slurm.states") ==
        std::vector<std::string_view>{"1 down*", "1 drained", "1 idle"});
  CHECK(facts.number("scheduler.slurm.kill_wait") == 90);
  host.system.processes.answer = [](const Command&) {
    ProcessResult result = says("", 1);
    result.err = "slurm_load_partitions: Unable to contact slurm controller (connect failure)\n";
    return result;
  };
  CHECK(gather_software(host, "scheduler").why_missing("scheduler.slurm.answer") ==
        "slurm_load_partitions: Unable to contact slurm controller (connect failure)");
}

TEST_CASE("the cores of a PBS job on each host are those of exec_host") {
  struct Row {
    std::string qstat, host, cores;
  };
  std::ifstream recorded(DDLRUN_TEST_DATA "/schedulers/pbs/02_qstat_R.txt");
  REQUIRE(recorded);
  // The first is OpenPBS 23.06's own answer; the others have the forms of its guide and of Torque 6.
  const std::vector<Row> rows{
      {std::string(std::istreambuf_iterator<char>(recorded), {}), "minsky4", "68"},
      {"Job Id: 1.pbs\n    exec_host = n1/0\n", "n1", "1"},
      {"Job Id: 1.pbs\n    exec_host = n1/0*4+n1/1*4+n2/0*\n\t12\n    x = 1\n", "n1", "8"},
      {"Job Id: 1.pbs\n    exec_host = n1/0*4+n1/1*4+n2/0*\n\t12\n    x = 1\n", "n2", "12"},
      {"Job Id: 1.pbs\n    exec_host = n1.site/0-67+n2.site/0-67\n", "n2", "68"},
      {"Job Id: 1.pbs\n    exec_host = n1/1+n1/0+n2/1+n2/0\n", "n2", "2"}};
  FakeHost host;
  host.request.is_driver_host = true;
  host.system.environment.variables = {{"PATH", "/usr/bin"}, {"PBS_JOBID", "1.pbs"}};
  CHECK(gather_software(host, "scheduler").why_missing("scheduler.pbs.cores") == "no qstat in PATH");
  host.put("/usr/bin/qstat", "");
  for (const Row& row : rows) {
    CAPTURE(row.qstat);
    host.system.processes.answer = [&](const Command& command) {
      return says(command[1] == "-f" && command.back() == "1.pbs" ? row.qstat : "");
    };
    CHECK(gather_software(host, "scheduler").text("scheduler.pbs.cores." + row.host) == row.cores);
  }
  for (const char* text : {"", "Job Id: 1.pbs\n", "    exec_host = n1\n", "    exec_host = n1/0*x\n",
                           "    exec_host = n1/0+/0\n", "\texec_host = n1/0\n"}) {
    CAPTURE(text);
    host.system.processes.answer = [&](const Command& command) {
      return says(command[1] == "-f" ? text : "");
    };
    CHECK(gather_software(host, "scheduler").why_missing("scheduler.pbs.cores") ==
          "qstat -f shows no exec_host of the job");
  }
  host.system.processes.answer = [&](const Command& command) {
    ProcessResult result = says("", command[1] == "-f" ? 153 : 0);
    result.err = "qstat: Unknown Job Id 1.pbs\n";
    return result;
  };
  CHECK(gather_software(host, "scheduler").why_missing("scheduler.pbs.cores") ==
        "qstat: Unknown Job Id 1.pbs");
}

TEST_CASE("Python's torch is read from its files") {
  FakeHost host;
  host.system.environment.variables["PATH"] = "/usr/bin";
  host.request.executable = "python3";
  host.put("/usr/bin/python3", "");
  host.put("/lib/py/torch/version.py",
           "__version__ = '2.3.0+cu121'\ndebug = False\ncuda: Optional[str] = '12.1'\n");
  host.kernel.add_directory("/lib/py/nvidia_nccl_cu12-2.20.5.dist-info");
  host.system.processes.answer = [](const Command&) { return says("3.11.2\n/usr\n/lib/none\n/lib/py\n"); };
  const Facts facts = gather_software(host, "python");
  CHECK(facts.is("python.version", "3.11.2"));
  CHECK(facts.is("python.torch", "2.3.0+cu121"));
  CHECK(facts.is("python.cuda", "12.1"));
  CHECK(facts.is("python.nccl", "2.20.5"));
  host.request.executable = "./train";
  CHECK(gather_software(host, "python").all().empty());
}

TEST_CASE("this machine's Open MPI, kernel and processors are those that other tools name") {
  tests::RealHost here;
  here.request.executable = "/usr/bin/env";
  Facts facts;
  gather_mpi(here.context, facts);
  gather_programs(here.context, facts);
  const ProcessResult mpirun = here.processes.run({"mpirun", "--version"}, {});
  CHECK(facts.text("mpi.program.mpirun").has_value() == mpirun.start_error.empty());
  if (mpirun.ok() && mpirun.out.starts_with("mpirun (Open MPI) ")) {
    const std::string version = mpirun.out.substr(18, mpirun.out.find('\n') - 18);
    CHECK(facts.is("mpi.version", version));
    // From Open MPI 5 on mpirun is PRRTE's prterun and is linked with no library of Open MPI.
    const std::string source = version[0] >= '5' ? "--version" : "libopen-pal";
    CHECK(facts.text("mpi.version_source").value_or("").find(source) != std::string::npos);
  }
  const std::string release = here.output({"uname", "-r"});
  CHECK(facts.is("software.release", trim(release)));
  const std::string size = here.output({"stat", "-L", "-c", "%s", "/usr/bin/env"});
  CHECK(facts.is("program.size", trim(size)));
  CHECK(facts.text("program.missing") == "");
}

TEST_SUITE_END();
