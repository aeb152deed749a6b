// SPDX-License-Identifier: MIT
// The gatherers of the system subject on this very machine, against what its own tools say.
#include "base/text/text.hpp"
#include "doctor/gather/system.hpp"
#include "tests/support/real_host.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

struct Here : tests::RealHost {
  Facts gather(std::string_view name = {}) {
    Facts facts;
    for (const Gatherer& gatherer : system_gatherers()) {
      const bool wanted = name.empty() ? gatherer.level == Level::quick : gatherer.name == name;
      if (wanted) gatherer.gather(context, facts);
    }
    return facts;
  }
  // What a tool prints, without its last newline; "" where it is not installed.
  std::string reported(const Command& command) {
    const ProcessResult result = processes.run(command, {std::chrono::seconds(20), 0, 0, 1 << 20});
    return result.ok() ? std::string(trim(result.out)) : std::string();
  }
};

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/gather_live");

TEST_CASE("this machine: limits, memory, processors as its tools report them") {
  Here here;
  const Facts facts = here.gather();
  const std::string locked = here.reported({"bash", "-c", "ulimit -l"});
  CHECK(facts.is("limit.memlock.soft",
                 locked == "unlimited" ? locked : std::to_string(*parse_unsigned(locked) * 1024)));
  CHECK(facts.is("limit.nofile.soft", here.reported({"bash", "-c", "ulimit -n"})));
  CHECK(facts.is("user.uid", here.reported({"id", "-u"})));
  CHECK(facts.is("user.name", here.reported({"id", "-un"})));
  CHECK(facts.number("cpu.usable_threads") == parse_unsigned(here.reported({"nproc"})));
  const std::string cores =
      here.reported({"bash", "-c", "lscpu -p=CORE,SOCKET | grep -v '^#' | sort -u | wc -l"});
  if (here.reported({"nproc"}) == here.reported({"nproc", "--all"}))
    CHECK(facts.is("cpu.usable_cores", cores));
  const std::string memory = here.reported({"bash", "-c", "free -b | awk '/^Mem:/ {print $2}'"});
  CHECK(facts.is("mem.total_bytes", memory));
  const std::string shm = here.reported({"df", "-B1", "--output=size", "/dev/shm"});
  CHECK(facts.is("shm.total_bytes", std::string(trim(shm.substr(shm.find('\n') + 1)))));
  CHECK(facts.is("kernel.file_max", here.reported({"cat", "/proc/sys/fs/file-max"})));
}

TEST_CASE("this machine: the temporary directory is what df and findmnt say") {
  Here here;
  here.request.temporary_dir = std::filesystem::temp_directory_path().string();
  const Facts facts = here.gather("disks");
  const std::string& path = here.request.temporary_dir;
  CHECK(facts.is("disk.tmp.state", "ok"));
  const std::string table = here.reported({"df", "-B1", "--output=size,target,source,fstype", path});
  const std::string line = table.substr(table.rfind('\n') + 1);
  auto words = split(line, ' ');
  std::erase(words, std::string_view());
  REQUIRE(words.size() == 4);
  CHECK(facts.is("disk.tmp.total_bytes", words[0]));
  if (words[2] == "-") return;  // df finds no mount either: a chroot
  CHECK(facts.is("disk.tmp.mount", words[1]));
  CHECK(facts.is("disk.tmp.source", words[2]));
  CHECK(facts.is("disk.tmp.fs", words[3]));
}

TEST_CASE("the gatherers of level quick cost little") {
  Here here;
  here.gather();  // warm
  rusage before{}, after{}, children_before{}, children_after{};
  ::getrusage(RUSAGE_SELF, &before);
  ::getrusage(RUSAGE_CHILDREN, &children_before);
  constexpr int rounds = 10;
  std::size_t count = 0;
  for (int i = 0; i < rounds; ++i) count = here.gather().all().size();
  ::getrusage(RUSAGE_SELF, &after);
  ::getrusage(RUSAGE_CHILDREN, &children_after);
  const auto milliseconds = [](const rusage& from, const rusage& to) {
    const auto part = [](const timeval& a, const timeval& b) {
      return static_cast<double>(b.tv_sec - a.tv_sec) * 1000 +
             static_cast<double>(b.tv_usec - a.tv_usec) / 1000;
    };
    return part(from.ru_utime, to.ru_utime) + part(from.ru_stime, to.ru_stime);
  };
  const double spent = (milliseconds(before, after) + milliseconds(children_before, children_after)) / rounds;
  MESSAGE(count << " facts in " << spent << " ms of processor time");
  CHECK(count > 60);
  CHECK(spent < 100);  // about 4 ms on a quiet machine; sanitizers and neighbours make it more
}

TEST_SUITE_END();
