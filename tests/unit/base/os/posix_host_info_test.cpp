// SPDX-License-Identifier: MIT
// The real kernel door against what coreutils, bash, util-linux and iproute2 say about the same machine.
#include "base/os/posix_host_info.hpp"

#include "base/os/posix_system.hpp"
#include "base/text/text.hpp"
#include "tests/support/fake_host_info.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

using namespace ddlrun;

namespace {

// What a foreign tool prints, trimmed; a tool that is not installed fails the test that requests it.
std::string reported(const Command& command) {
  PosixProcesses processes;
  const ProcessResult result = processes.run(command, {std::chrono::seconds(20), 0, 0, 1 << 20});
  CAPTURE(render_shell(command));
  CAPTURE(result.start_error);
  CHECK(result.ok());
  return std::string(trim(result.out));
}

std::uint64_t number(const std::string& text) {
  const auto value = parse_unsigned(text);
  CAPTURE(text);
  REQUIRE(value);
  return *value;
}

struct Scratch {
  std::string path;
  Scratch()
      : path(
            PosixFiles().make_directory((std::filesystem::temp_directory_path() / "kernel_test.").string())) {
  }
  ~Scratch() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_SUITE_BEGIN("base/os/posix_host_info");

TEST_CASE("limits are those of ulimit") {
  struct Row {
    const char *name, *letter;
    std::uint64_t unit;
  };
  PosixHostInfo kernel;
  for (const Row& row : {Row{"memlock", "l", 1024}, Row{"nofile", "n", 1}, Row{"nproc", "u", 1},
                         Row{"stack", "s", 1024}, Row{"core", "c", 1024}, Row{"as", "v", 1024}}) {
    CAPTURE(row.name);
    const auto limit = kernel.limit(row.name);
    REQUIRE(limit);
    for (const bool hard : {false, true}) {
      CAPTURE(hard);
      const std::string text =
          reported({"bash", "-c", std::string("ulimit -") + (hard ? "H" : "S") + row.letter});
      const std::uint64_t seen = hard ? limit->hard : limit->soft;
      if (text == "unlimited") {
        CHECK(seen == Limit::unlimited);
      } else {
        CHECK(seen / row.unit == number(text));
      }
    }
  }
  CHECK_FALSE(kernel.limit("beans"));
}

TEST_CASE("a lowered limit is seen") {
  PosixProcesses processes;
  PosixHostInfo kernel;
  const auto results =
      processes.run_functions(std::vector<std::pair<ChildFunction, std::chrono::milliseconds>>{
          {[&] {
             reported({"prlimit", "--nofile=123:456", "--pid", std::to_string(kernel.process_id())});
             const auto limit = kernel.limit("nofile");
             return std::to_string(limit->soft) + ":" + std::to_string(limit->hard);
           },
           std::chrono::seconds(20)}});
  CHECK(results[0].out == "123:456");
}

TEST_CASE("file_info is what stat says") {
  PosixHostInfo kernel;
  const Scratch scratch;
  PosixFiles().write(scratch.path + "/file", "twelve bytes");
  std::filesystem::permissions(scratch.path + "/file", std::filesystem::perms(0640));
  std::filesystem::create_symlink("file", scratch.path + "/link");
  std::filesystem::create_symlink("nowhere", scratch.path + "/broken");
  for (const char* name : {"/file", "/link", ""}) {
    CAPTURE(name);
    const std::string path = scratch.path + name;
    const auto info = kernel.file_info(path, true);
    REQUIRE(info);
    const std::string wanted = reported({"stat", "-L", "-c", "%a %u %g %s %Y %d %i", path});
    char mode[16];
    std::snprintf(mode, sizeof mode, "%o", info->mode);
    CHECK(std::string(mode) + " " + std::to_string(info->uid) + " " + std::to_string(info->gid) + " " +
              std::to_string(info->size_bytes) + " " + std::to_string(info->modified_seconds) + " " +
              std::to_string(info->device) + " " + std::to_string(info->inode) ==
          wanted);
  }
  CHECK(kernel.file_info(scratch.path + "/link", false)->kind == FileInfo::Kind::link);
  CHECK(kernel.file_info(scratch.path, true)->kind == FileInfo::Kind::directory);
  CHECK(kernel.file_info("/dev/null", true)->kind == FileInfo::Kind::device);
  CHECK_FALSE(kernel.file_info(scratch.path + "/broken", true));
  CHECK(kernel.read_link(scratch.path + "/broken") == "nowhere");
  CHECK_FALSE(kernel.read_link(scratch.path + "/file"));
  CHECK(kernel.list_directory(scratch.path) == std::vector<std::string>{"broken", "file", "link"});
  CHECK(kernel.list_directory(scratch.path + "/file").empty());
  CHECK_FALSE(kernel.visit_directory(scratch.path + "/none", [](auto, auto) { return true; }));
  int seen = 0;
  CHECK(kernel.visit_directory(scratch.path, [&](auto, auto) { return ++seen < 2; }));
  CHECK(seen == 2);
}

TEST_CASE("access, as test -r -w -x see it") {
  PosixHostInfo kernel;
  CHECK(kernel.may_access("/bin/sh", Access::execute));
  CHECK_FALSE(kernel.may_access("/etc/passwd", Access::execute));
  CHECK(kernel.may_access("/etc/passwd", Access::read));
  CHECK_FALSE(kernel.may_access("/etc/no-such-file", Access::read));
  CHECK_FALSE(kernel.may_access("/proc/version", Access::execute));
}

TEST_CASE("disk space is what df says") {
  PosixHostInfo kernel;
  for (const char* path : {"/", "/dev/shm", "/proc"}) {
    CAPTURE(path);
    const auto space = kernel.disk_space(path);
    REQUIRE(space);
    const std::string line = reported({"stat", "-f", "-c", "%S %b %a %c %t", path});
    const auto words = split(line, ' ');
    REQUIRE(words.size() == 5);
    const std::uint64_t block = number(std::string(words[0]));
    CHECK(space->total_bytes == block * number(std::string(words[1])));
    const std::uint64_t free_bytes = block * number(std::string(words[2]));  // others write meanwhile
    CHECK(std::max(free_bytes, space->free_bytes) - std::min(free_bytes, space->free_bytes) < (2u << 30));
    CHECK(space->inodes == number(std::string(words[3])));
    char type[32];
    std::snprintf(type, sizeof type, "%lx", static_cast<unsigned long>(space->type));
    CHECK(type == std::string(words[4]));
  }
  CHECK_FALSE(kernel.disk_space("/no/such/directory"));
}

TEST_CASE("identity, kernel and processors are those of id, uname and taskset") {
  PosixHostInfo kernel;
  const Identity who = kernel.identity();
  CHECK(std::to_string(who.uid) == reported({"id", "-u"}));
  CHECK(std::to_string(who.gid) == reported({"id", "-g"}));
  CHECK(who.user == reported({"id", "-un"}));
  auto groups = who.groups;
  groups.push_back(who.gid);
  const std::string all_groups = reported({"id", "-G"});
  for (const auto word : split(all_groups, ' ')) {
    CHECK(std::count(groups.begin(), groups.end(), number(std::string(word))) > 0);
  }
  CHECK(who.home == std::string(split(reported({"getent", "passwd", std::to_string(who.uid)}), ':')[5]));
  const KernelName name = kernel.kernel_name();
  CHECK(name.system + " " + name.release + " " + name.machine == reported({"uname", "-srm"}));
  CHECK(name.libc == reported({"getconf", "GNU_LIBC_VERSION"}));
  const std::string mask = reported({"taskset", "-cp", std::to_string(::getpid())});
  CHECK(parse_ranges(mask.substr(mask.rfind(' ') + 1), 1 << 20) == kernel.usable_cpus());
  CHECK(kernel.process_id() == static_cast<std::uint64_t>(::getpid()));
}

TEST_CASE("names are those of getent") {
  PosixHostInfo kernel;
  const NameLookup lookup = kernel.find_addresses("localhost");
  REQUIRE(lookup.problem.empty());
  REQUIRE_FALSE(lookup.addresses.empty());
  const std::string table = reported({"getent", "ahosts", "localhost"});
  for (const std::string& address : lookup.addresses) {
    CAPTURE(address);
    CHECK(table.find(address + " ") != std::string::npos);
    CHECK(std::count(lookup.addresses.begin(), lookup.addresses.end(), address) == 1);
  }
  CHECK(kernel.find_addresses("127.0.0.1").addresses == std::vector<std::string>{"127.0.0.1"});
  const NameLookup none = kernel.find_addresses("no-such-host.invalid");
  CHECK(none.addresses.empty());
  CHECK_FALSE(none.problem.empty());
}

TEST_CASE("interfaces are those of ip") {
  PosixHostInfo kernel;
  const auto interfaces = kernel.interfaces();
  const std::string links = reported({"ip", "-o", "link"});
  const std::string addresses = reported({"ip", "-o", "addr"});
  CHECK(static_cast<long>(interfaces.size()) == std::count(links.begin(), links.end(), '\n') + 1);
  for (const NetworkInterface& one : interfaces) {
    CAPTURE(one.name);
    const std::string line = reported({"ip", "-o", "link", "show", "dev", one.name});
    CHECK(line.find(" mtu " + std::to_string(one.mtu) + " ") != std::string::npos);
    CHECK((line.find("LOOPBACK") != std::string::npos) == one.loopback);
    CHECK((line.find(",UP") != std::string::npos || line.find("<UP") != std::string::npos) == one.up);
    for (const std::string& address : one.addresses) {
      CAPTURE(address);
      CHECK(addresses.find(" " + address + " ") != std::string::npos);
    }
  }
}

TEST_CASE("the clock's state is the kernel's") {
  PosixHostInfo kernel;
  const ClockState state = kernel.clock_state();
  CHECK(state.estimated_error_seconds >= 0);
  if (state.synchronised) CHECK(state.estimated_error_seconds < 16);  // the kernel's limit for "synchronised"
}

TEST_CASE("the fake kernel behaves as the real one does") {
  ddlrun::tests::FakeHostInfo fake;
  fake.add("/data/train/a").size_bytes = 5;
  fake.add("/data/train/b");
  fake.add_link("/data/now", "train");
  CHECK(fake.list_directory("/data") == std::vector<std::string>{"now", "train"});
  CHECK(fake.list_directory("/data/train") == std::vector<std::string>{"a", "b"});
  CHECK(fake.file_info("/data/train/a", true)->size_bytes == 5);
  CHECK(fake.file_info("/data/now", true)->kind == FileInfo::Kind::directory);
  CHECK(fake.file_info("/data/now", false)->kind == FileInfo::Kind::link);
  CHECK_FALSE(fake.file_info("/data/none", true));
  CHECK(fake.may_access("/data", Access::write));
  CHECK_FALSE(fake.may_access("/none", Access::read));
}

TEST_SUITE_END();
