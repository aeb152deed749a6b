// SPDX-License-Identifier: MIT
// Files that are whole or not there: what lies at the name decides how. Judged by stat(2) and by who reads.
#include "runtime/telemetry/atomic_file.hpp"

#include "runtime/telemetry/telemetry_sinks.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <thread>

namespace ddlrun::runtime {
namespace {

const FilePurpose some_use{"--summary-json", "the summary file"};

std::string text_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_whole(const std::string& path, const std::string& text) {
  AtomicFile file(path, some_use);
  file.write(text);
  file.end();
}

std::vector<std::string> names_in_directory(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/telemetry/atomic_file");

// namespace

TEST_CASE("atomic file: nothing before its end, then all of it, with the rights of the one before") {
  const TemporaryDirectory directory;
  const std::string path = directory.path + "/r.json";
  directory.write("r.json", std::string("old"));
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  {
    AtomicFile file(path, some_use);
    file.write("new");
    CHECK(text_in(path) == "old");
  }
  CHECK(text_in(path) == "old");
  CHECK(names_in_directory(directory.path) == std::vector<std::string>{"r.json"});
  write_whole(path, "new");
  CHECK(text_in(path) == "new");
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0640);
}

TEST_CASE("atomic file: links stay, what they lead to is written, there or not yet") {
  const TemporaryDirectory directory;
  directory.write("far/there.json", std::string("old"));
  for (const char* target : {"there.json", "new.json"}) {
    CAPTURE(target);
    const std::string link = directory.path + "/" + target + ".link";
    std::filesystem::create_symlink(std::string("far/") + target, directory.path + "/hop");
    std::filesystem::create_symlink("hop", link);
    write_whole(link, "text");
    CHECK(std::filesystem::is_symlink(link));
    CHECK(text_in(directory.path + "/far/" + target) == "text");
    std::filesystem::remove(directory.path + "/hop");
  }
  std::filesystem::create_symlink("loop", directory.path + "/loop");
  expect_error(ErrorKind::request, "cannot be written", [&] { write_whole(directory.path + "/loop", "x"); });
}

// As with fs.protected_symlinks of proc(5), which a container may have switched off.
TEST_CASE("atomic file: where every user may create names, a link of another user is not followed") {
  if (geteuid() != 0) return;  // only root can give a link to another user
  const TemporaryDirectory directory;
  directory.write("victim", std::string("private"));
  directory.write("shared/other", std::string());
  const std::string shared = directory.path + "/shared", link = shared + "/r.json";
  std::filesystem::create_symlink(directory.path + "/victim", link);
  REQUIRE(lchown(link.c_str(), 65534, 65534) == 0);
  REQUIRE(chmod(shared.c_str(), 01777) == 0);
  expect_error(ErrorKind::request, "Permission denied", [&] { write_whole(link, "x"); });
  CHECK(text_in(directory.path + "/victim") == "private");
  CHECK(names_in_directory(shared) == std::vector<std::string>{"other", "r.json"});
}

TEST_CASE("atomic file: a pipe is written through, and checked without being opened") {
  const TemporaryDirectory directory;
  const std::string path = directory.path + "/pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  check_atomic_file(path, some_use);  // would wait for a reader
  std::string received;
  std::thread reader([&] { received = text_in(path); });
  write_whole(path, "through");
  reader.join();
  CHECK(received == "through");
  CHECK(std::filesystem::is_fifo(path));
}

TEST_CASE("atomic file: a device that is full is reported and stays a device") {
  const TemporaryDirectory directory;
  const std::string path = directory.path + "/full";  // as /dev/full
  const bool made = mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 7)) == 0;
  const int tried = made ? open(path.c_str(), O_WRONLY) : -1;
  if (tried < 0) {
    MESSAGE("skipped: no device can be made here");
    return;
  }
  close(tried);
  expect_error(ErrorKind::request, "No space left on device", [&] { write_whole(path, "x"); });
  CHECK(std::filesystem::is_character_file(path));
  CHECK(names_in_directory(directory.path) == std::vector<std::string>{"full"});
}

TEST_CASE("atomic file: invalid requests are refused at once, and leaves nothing") {
  const TemporaryDirectory directory;
  const Message refusal = expect_error(ErrorKind::request, "Is a directory",
                                       [&] { check_atomic_file(directory.path, some_use); });
  CHECK(refusal.hint == "--summary-json " + directory.path + "/summary.json");
  expect_error(ErrorKind::request, "No such file or directory",
               [&] { check_atomic_file(directory.path + "/no/r.json", some_use); });
  check_atomic_file(directory.path + "/r.json", some_use);
  CHECK(names_in_directory(directory.path).empty());
}

TEST_CASE("outputs: what would take another's place is refused before anything is made") {
  const TemporaryDirectory directory;
  const std::string one = directory.path + "/one";
  std::filesystem::create_symlink("one", directory.path + "/link");
  struct Row {
    TelemetryPlan plan;
    const char* what;
  };
  // Metrics, TensorBoard, timeline, results, checkpoints.
  const Row rows[] = {
      {{one, "", "", one, ""}, "--metrics and --summary-json point to the same path"},
      {{one, "", "", directory.path + "/./one", ""}, "--metrics and --summary-json point to the same path"},
      {{one, "", directory.path + "/link", "", ""}, "--metrics and --timeline point to the same path"},
      {{"", "", one, one, ""}, "--summary-json and --timeline point to the same path"},
      {{"", "", "", one, one + "/"}, "--summary-json and --checkpoint point to the same path"},
      {{"-", "", "", "", ""}, "- is not supported as a file name"},
      {{"", "-", "", "", ""}, "- is not supported as a file name"}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    expect_error(ErrorKind::usage, row.what, [&] { check_outputs(row.plan); });
  }
  CHECK(names_in_directory(directory.path) == std::vector<std::string>{"link"});
  check_outputs({"/dev/null", one, "", "/dev/null", one});
  expect_error(ErrorKind::request, "Is a directory", [&] {
    check_outputs({"", "", directory.path, "", ""});
  });
  const std::string pipe = directory.path + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  expect_error(ErrorKind::request, "must be a regular file", [&] { check_outputs({"", "", pipe, "", ""}); });
}

TEST_CASE("metrics: a disk that is full for a while costs no record") {
  const TemporaryDirectory directory;
  const std::string path = directory.path + "/m.jsonl";
  MetricsFile file(path);
  file.write("{\"a\":1}");
  file.flush();
  // A file may have 12 bytes: the second record is cut.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{12, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  bool thrown = false;
  try {
    file.write("{\"a\":2}");
    file.flush();
  } catch (const Error&) {
    thrown = true;
  }
  const std::string cut = text_in(path);
  bool refused = false;
  try {
    MetricsFile(path + "2").finish();
    file.flush();
  } catch (const Error&) {
    refused = true;
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_FALSE(thrown);
  CHECK_FALSE(refused);
  CHECK(cut.size() == 12);
  file.write("{\"a\":3}");
  file.finish();
  CHECK(text_in(path) == "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
