// SPDX-License-Identifier: MIT
// The job history: what is written is read, by several processes at once, and nothing that is not ours is
// touched.
#include "schedulers/client/history.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace ddlrun;
using namespace ddlrun::schedulers;
namespace fs = std::filesystem;

namespace {

struct Directory {
  Directory() {
    std::string name = (fs::temp_directory_path() / "ddlrun-history-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Directory() { fs::remove_all(path); }
  std::string file() const { return (path / "jobs.db").string(); }
  fs::path path;
};

JobEntry entry(const std::string& id, std::int64_t at = 1000) {
  JobEntry one;
  one.id = id;
  one.scheduler = "slurm";
  one.name = "train 'x'; \"y\" \n -- \xea\xb0\x80";
  one.dir = "/home/ddl/runs/" + id;
  one.submitted_at = at;
  one.script_hash = "abc123";
  return one;
}

JobStatus status(const std::string& id, JobState state, std::optional<int> exit_status = {}) {
  JobStatus one;
  one.id = id;
  one.state = state;
  one.exit_status = exit_status;
  return one;
}

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::string& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// The message of the refusal; the file must be as it was.
Message refused(const std::string& file) {
  const std::string before = bytes_of(file);
  try {
    open_job_history(file)->recent(10);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::request);
    CHECK(bytes_of(file) == before);
    CHECK(error.message().where == file);
    return error.message();
  }
  FAIL("it was taken for a history");
  return {};
}

// What the sqlite3 file format says: a big-endian number in the header.
void set_header_number(const std::string& file, std::size_t at, unsigned value) {
  std::string bytes = bytes_of(file);
  for (std::size_t i = 0; i < 4; ++i) bytes.at(at + i) = static_cast<char>(value >> (24 - 8 * i));
  write_bytes(file, bytes);
}
constexpr std::size_t kUserVersionAt = 60, kApplicationAt = 68;

// `count` jobs added and brought to their end by a process of its own.
pid_t start_writer(const std::string& file, int writer, int count) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    const auto history = open_job_history(file);
    for (int i = 0; i < count; ++i) {
      const std::string id = std::to_string(writer) + "-" + std::to_string(i);
      history->add(entry(id, i));
      history->update(status("shared", JobState::running), i);
      if (!history->update(status(id, JobState::failed, i % 128), 5000 + i)) _exit(2);
    }
  } catch (const Error&) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/client/history");

TEST_CASE("what is written is read, in another session too") {
  const Directory dir;
  JobEntry full = entry("15_[2-5%2];cluster");
  full.state = JobState::out_of_memory;
  full.exit_status = 137;
  full.ended_at = 2000;
  full.hosts = "node[1-2]";
  full.run_seconds = 61;
  full.cause = "rank 3 'failed' first";
  full.queue = "normal";
  {
    const auto history = open_job_history(dir.file());
    CHECK(history->recent(10).empty());
    CHECK_FALSE(history->find("1"));
    history->add(entry("1"));
    history->add(full);
  }
  const auto history = open_job_history(dir.file());
  CHECK(history->find("1") == entry("1"));
  CHECK(history->find(full.id) == full);
  CHECK(history->recent(10) == std::vector<JobEntry>{full, entry("1")});
  CHECK(history->recent(1) == std::vector<JobEntry>{full});
  CHECK_FALSE(history->find("1' OR '1'='1"));
}

TEST_CASE("a number without its server; what was found out about an end") {
  const Directory dir;
  const auto history = open_job_history(dir.file());
  for (const char* id : {"77.pbs01", "77", "177.pbs01", "77[].pbs02", "77.pbs01"}) history->add(entry(id));
  const auto found = history->find_short("77");
  REQUIRE(found.size() == 2);  // the newest of each
  CHECK(found[0].id == "77.pbs01");
  CHECK(found[1].id == "77[].pbs02");
  CHECK(history->find_short("7").empty());
  CHECK(history->find_short("77[]").size() == 1);
  history->note_end("77", "too early", 4);
  CHECK(history->find("77")->cause.empty());
  JobStatus end = status("77", JobState::failed, 143);
  end.hosts = "node[1-2]";
  end.run_seconds = 61;
  history->update(end, 1200);
  history->note_end("77", "rank 3 failed first", 4);
  CHECK(history->find("77")->cause == "rank 3 failed first");
  CHECK(history->find("77")->exit_status == 4);
  CHECK(history->find("77")->hosts == "node[1-2]");
  CHECK(history->find("77")->run_seconds == 61);
}

TEST_CASE("a job's life; its end is kept") {
  const Directory dir;
  const auto history = open_job_history(dir.file());
  history->add(entry("1"));
  CHECK(history->update(status("1", JobState::running), 1100));
  CHECK(history->find("1")->state == JobState::running);
  CHECK_FALSE(history->find("1")->ended_at);
  CHECK(history->update(status("1", JobState::failed, 3), 1200));
  CHECK(history->find("1")->exit_status == 3);
  CHECK(history->find("1")->ended_at == 1200);
  // The scheduler has forgotten it, or a slower watcher comes late.
  CHECK(history->update(status("1", JobState::unknown), 1300));
  CHECK(history->update(status("1", JobState::running), 1400));
  CHECK(history->find("1")->state == JobState::failed);
  CHECK(history->find("1")->ended_at == 1200);
  CHECK_FALSE(history->update(status("2", JobState::running), 1500));
  // The scheduler counts anew: the newest is meant.
  history->add(entry("1", 9000));
  CHECK(history->update(status("1", JobState::completed, 0), 9100));
  CHECK(history->find("1")->submitted_at == 9000);
  CHECK(history->recent(2).at(1).state == JobState::failed);
}

TEST_CASE("the queue and why a job was cancelled are kept from the first look on") {
  const Directory dir;
  const auto history = open_job_history(dir.file());
  history->add(entry("1"));
  JobStatus seen = status("1", JobState::held);
  seen.queue = "normal";
  seen.explained = "it starts when the job it depends on has ended as asked";
  history->update(seen, 1100);
  CHECK(history->find("1")->cause.empty());
  CHECK(history->find("1")->queue == "normal");
  JobStatus end = status("1", JobState::cancelled);
  end.reason = "terminated by ddl@n1";
  history->update(end, 1200);
  CHECK(history->find("1")->cause == "terminated by ddl@n1");
  CHECK(history->find("1")->queue == "normal");
}

TEST_CASE("several processes write at once, and nothing is lost") {
  const Directory dir;
  const char* wanted = std::getenv("DDLRUN_HISTORY_JOBS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 25;
  constexpr int kWriters = 3;
  std::vector<pid_t> writers;  // the first of them makes the file
  for (int writer = 0; writer < kWriters; ++writer)
    writers.push_back(start_writer(dir.file(), writer, count));
  for (const pid_t writer : writers) {
    int end = 0;
    REQUIRE(waitpid(writer, &end, 0) == writer);
    CHECK(WIFEXITED(end));
    CHECK(WEXITSTATUS(end) == 0);
  }
  const auto entries = open_job_history(dir.file())->recent(100000);
  CHECK(entries.size() == static_cast<std::size_t>(kWriters * count));
  std::set<std::string> ids;
  for (const JobEntry& one : entries) {
    ids.insert(one.id);
    CHECK(one.state == JobState::failed);
    CHECK(one.exit_status.value_or(-1) == one.submitted_at % 128);
    CHECK(one.ended_at.value_or(-1) == 5000 + one.submitted_at);
  }
  CHECK(ids.size() == entries.size());
  CHECK_FALSE(fs::exists(dir.file() + "-wal"));  // no shared memory: home directories are on NFS
}

TEST_CASE("a writer that is killed leaves a history that can be read") {
  const Directory dir;
  open_job_history(dir.file())->add(entry("first"));
  for (int round = 0; round < 5; ++round) {
    const pid_t writer = start_writer(dir.file(), round, 1000000);
    usleep(20000);
    kill(writer, SIGKILL);
    REQUIRE(waitpid(writer, nullptr, 0) == writer);
    const auto history = open_job_history(dir.file());
    CHECK(history->find("first") == entry("first"));
    history->add(entry("after-" + std::to_string(round)));
    CHECK(history->recent(1).at(0).id == "after-" + std::to_string(round));
  }
}

TEST_CASE("damaged and foreign files are refused, with a remedy, and left alone") {
  const Directory dir;
  write_bytes(dir.file(),
              "this is a text, and a long one, such as somebody may have put here by mistake ......\n");
  CHECK(refused(dir.file()).hint.find("mv " + dir.file() + " ") != std::string::npos);

  fs::remove(dir.file());
  {
    const auto history = open_job_history(dir.file());
    for (int i = 0; i < 200; ++i) history->add(entry(std::to_string(i)));
  }
  const std::string good = bytes_of(dir.file());
  SUBCASE("pages overwritten") {
    write_bytes(dir.file(), good.substr(0, 4096) + std::string(good.size() - 4096, '\x5a'));
    CHECK(refused(dir.file()).hint.find("mv ") != std::string::npos);
  }
  SUBCASE("cut off") {
    write_bytes(dir.file(), good.substr(0, good.size() / 2));
    CHECK(refused(dir.file()).hint.find("mv ") != std::string::npos);
  }
  SUBCASE("of a newer ddlrun") {
    set_header_number(dir.file(), kUserVersionAt, 4);
    const Message message = refused(dir.file());
    CHECK(message.what.find("version 4") != std::string::npos);
    CHECK(message.what.find("supports 3") != std::string::npos);
  }
  SUBCASE("of another program") {
    set_header_number(dir.file(), kApplicationAt, 1);
    CHECK(refused(dir.file()).what.find("another program") != std::string::npos);
  }
}

TEST_CASE("no directory, or a directory in its place") {
  const Directory dir;
  CHECK_THROWS_AS(open_job_history((dir.path / "no" / "jobs.db").string()), Error);
  CHECK_THROWS_AS(open_job_history(dir.path.string()), Error);
}

TEST_SUITE_END();
