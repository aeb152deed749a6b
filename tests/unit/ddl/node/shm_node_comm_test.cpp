// SPDX-License-Identifier: MIT
// Ranks of one host that share POSIX memory: forked, for it is between processes.
#include "ddl/node/shm_node_comm.hpp"

#include "ddl/core/host_id.hpp"
#include "ddl/error.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("ddl/node/shm_node_comm");

namespace {

using Texts = std::vector<std::string>;

// gather() of two processes: each has a pipe to the other.
struct TwoProcesses {
  TwoProcesses() { REQUIRE((pipe(up.data()) == 0 && pipe(down.data()) == 0)); }
  ~TwoProcesses() {
    for (const int fd : {up[0], up[1], down[0], down[1]}) close(fd);
  }
  TwoProcesses(const TwoProcesses&) = delete;
  TwoProcesses& operator=(const TwoProcesses&) = delete;

  ddl::GatherStrings gather(int rank) {
    return [this, rank](const std::string& mine) {
      std::array<char, 256> line{};
      std::snprintf(line.data(), line.size(), "%s", mine.c_str());
      if (write((rank == 0 ? down : up)[1], line.data(), line.size()) != 256) _exit(9);
      if (read((rank == 0 ? up : down)[0], line.data(), line.size()) != 256) _exit(9);
      return rank == 0 ? Texts{mine, line.data()} : Texts{line.data(), mine};
    };
  }
  std::array<int, 2> up{};
  std::array<int, 2> down{};
};

ddl::Grid grid_of(const Texts& hosts) { return ddl::plan_grid("", hosts); }

// Rank 1 in a child; its exit status.
int with_child(const std::function<int(ddl::NodeComm&)>& child,
               const std::function<void(ddl::NodeComm&)>& parent) {
  const ddl::Grid grid = grid_of({"h1", "h1"});
  TwoProcesses two;
  const pid_t pid = fork();
  if (pid == 0) {
    int status = 8;
    try {
      status = child(*ddl::make_shm_node_comm(two.gather(1), grid, 1, 5.0));
    } catch (const ddl::Error& error) {
      std::fprintf(stderr, "rank 1: %s\n", error.what());
    }
    _exit(status);
  }
  const auto group = ddl::make_shm_node_comm(two.gather(0), grid, 0, 5.0);
  parent(*group);
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

void rendezvous(std::byte* mine, const std::byte* other) {
  auto* own = reinterpret_cast<volatile char*>(mine);
  const auto* theirs = reinterpret_cast<const volatile char*>(other);
  own[0] = 1;
  while (theirs[0] == 0) usleep(100);
}

}  // namespace

// What the first rank publishes, and then makes, before it is killed: the other ranks remove the name.
TEST_CASE("the first rank is killed before it reports its block: its name does not stay") {
  const ddl::Grid grid = grid_of({"h1", "h1"});
  TwoProcesses two;
  const pid_t pid = fork();
  if (pid == 0) {
    int calls = 0;
    const auto gather = two.gather(0);
    ddl::make_shm_node_comm(
        [&](const std::string& mine) {
          if (++calls == 2) raise(SIGKILL);
          return gather(mine);
        },
        grid, 0, 5.0);
    _exit(0);
  }
  std::string name;
  const auto gather = two.gather(1);
  const auto until_lost = [&](const std::string& mine) {
    if (!name.empty()) {
      waitpid(pid, nullptr, 0);
      const int fd = shm_open(name.c_str(), O_RDWR, 0);
      CHECK(fd >= 0);
      if (fd >= 0) close(fd);
      throw ddl::Error(ddl::Fault::lost, "rank 0 is lost", "rank 0", "look for it");
    }
    const Texts cards = gather(mine);
    name = cards[0].substr(cards[0].rfind(' ') + 1);
    return cards;
  };
  CHECK_THROWS_AS(ddl::make_shm_node_comm(until_lost, grid, 1, 5.0), ddl::Error);
  CHECK(name.starts_with("/libddl-"));
  CHECK(shm_open(name.c_str(), O_RDWR, 0) < 0);
}

TEST_CASE("blocks of two processes are the same memory, zeroed, each part on a page") {
  const std::size_t sizes[] = {1, 4096, 4097, 0, 1 << 20};
  const auto work = [&](ddl::NodeComm& group) {
    int wrong = 0;
    for (const std::size_t size : sizes) {
      const auto flags = group.allocate(1);
      const auto block = group.allocate(size);
      const int me = group.local_rank();
      for (int part = 0; part < 2; ++part) {
        if (block->part(part).size() != size) ++wrong;
        if (reinterpret_cast<std::uintptr_t>(block->part(part).data()) % 4096 != 0) ++wrong;
      }
      if (size > 0) {
        for (const std::byte each : block->part(me)) wrong += each != std::byte{0} ? 1 : 0;
        block->part(me).back() = static_cast<std::byte>(7 + me);
      }
      rendezvous(flags->part(me).data(), flags->part(1 - me).data());
      if (size > 0 && block->part(1 - me).back() != static_cast<std::byte>(8 - me)) ++wrong;
    }
    return wrong;
  };
  const int status = with_child(work, [&](ddl::NodeComm& group) {
    CHECK(group.local_size() == 2);
    CHECK(group.name_of(1) == "rank 1 (h1)");
    CHECK(group.alive(1));
    CHECK(work(group) == 0);
  });
  CHECK(status == 0);
}

TEST_CASE("memory that cannot be had is reported on all ranks, and the next block is made") {
  const auto work = [](ddl::NodeComm& group) {
    try {
      group.allocate(std::size_t{1} << 50);
      return 1;
    } catch (const ddl::Error& error) {
      if (error.fault() != ddl::Fault::unsupported) return 2;
    }
    return group.allocate(100)->part(0).size() == 100 ? 0 : 3;
  };
  CHECK(with_child(work, [&](ddl::NodeComm& group) { CHECK(work(group) == 0); }) == 0);
}

TEST_CASE("a rank that is killed is no longer alive, and is named by who allocates") {
  const auto die = [](ddl::NodeComm&) { return raise(SIGKILL); };
  const int status = with_child(die, [](ddl::NodeComm& group) {
    try {
      group.allocate(100);
      FAIL("allocated");
    } catch (const ddl::Error& error) {
      CHECK(error.fault() == ddl::Fault::lost);
      CHECK(error.where() == "rank 1 (h1)");
    }
    CHECK_FALSE(group.alive(1));
  });
  CHECK(WTERMSIG(status) == SIGKILL);
}

// What rank 1 of one host reports when rank 0 answers its gathers with `name` and "no problem".
std::string reported_of(const std::string& name) {
  int round = 0;
  const auto rank_0 = [&](const std::string& mine) {
    return ++round == 1 ? Texts{"1 1 " + name, mine} : Texts{"0", "0"};
  };
  try {
    ddl::make_shm_node_comm(rank_0, grid_of({"h1", "h1"}), 1, 5.0);
  } catch (const ddl::Error& error) {
    return error.what();
  }
  return "made";
}

TEST_CASE("a name that rank 0 sends opens only memory that libddl made, and removes nothing else") {
  const std::string digits = fmt::format("{:032x}", getpid());
  struct Row {
    std::string name;
    const char* end;
  };
  for (const Row& row : {
           Row{"/libddl-" + digits, "made"},
           Row{"/job-" + digits, "Operation not permitted"},
           Row{"/libddl-" + digits + "0", "Operation not permitted"},
           Row{"/libddl-x" + digits.substr(1), "Operation not permitted"},
       }) {
    CAPTURE(row.name);
    const int file = shm_open(row.name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    REQUIRE((file >= 0 && ftruncate(file, 2 * 4096) == 0));
    close(file);
    CHECK(reported_of(row.name).ends_with(row.end));
    const bool is_left = shm_unlink(row.name.c_str()) == 0;
    CHECK(is_left == (std::string(row.end) != "made"));
  }
}

TEST_CASE("a rank without the memory reports it though rank 0 leaves its answer out") {
  CHECK(reported_of("/libddl-" + std::string(32, '0')).ends_with("No such file or directory"));
}

TEST_CASE("hosts are reported by their marks; their names say which is which") {
  struct Row {
    std::vector<ddl::HostId> marks;
    Texts names;
  };
  const Row rows[] = {
      {{{"h1", "a"}, {"h2", "b"}, {"h1", "a"}}, {"h1", "h2", "h1"}},
      {{{"h1", "a"}, {"h1", "b"}, {"h1", "a"}}, {"h1 (1)", "h1 (2)", "h1 (1)"}},
      {{{"h1", "a"}, {"h2", "a"}}, {"h1", "h2"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.names[1]);
    CHECK(ddl::name_hosts(row.marks) == row.names);
  }
  CHECK(ddl::this_host_id() == ddl::this_host_id());
  CHECK_FALSE(ddl::this_host_id().name.empty());
}

TEST_SUITE_END();
