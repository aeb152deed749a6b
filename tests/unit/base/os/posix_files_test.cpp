// SPDX-License-Identifier: MIT
// The door that writes whole files, where links, pipes and directories lie at the name.
#include "base/os/posix_system.hpp"
#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace ddlrun {
namespace {

struct WriteDirectory {
  WriteDirectory()
      : path(PosixFiles().make_directory((std::filesystem::temp_directory_path() / "write_test.").string())) {
  }
  ~WriteDirectory() { std::filesystem::remove_all(path); }
  WriteDirectory(const WriteDirectory&) = delete;
  WriteDirectory& operator=(const WriteDirectory&) = delete;
  std::string path;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE_BEGIN("base/os/posix_files");

TEST_CASE("files: links stay, and what they lead to is written, there or not yet") {
  const WriteDirectory directory;
  std::filesystem::create_symlink("hop", directory.path + "/link");
  std::filesystem::create_symlink("target", directory.path + "/hop");
  for (const char* text : {"first", "second"}) {
    PosixFiles().write(directory.path + "/link", text);
    CHECK(text_of(directory.path + "/target") == text);
  }
  CHECK(std::filesystem::is_symlink(directory.path + "/link"));
  CHECK(std::filesystem::is_symlink(directory.path + "/hop"));
}

TEST_CASE("files: one that is written again and again is whole each time, private, and alone") {
  const WriteDirectory directory;
  const std::string path = directory.path + "/file";
  std::ofstream(path + ".new") << "what a killed process left, and longer than the new text";
  for (const char* text : {"first", "second"}) {
    PosixFiles().rewrite(path, text);
    CHECK(text_of(path) == text);
  }
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0077) == 0);
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path), {}) == 1);
  CHECK_THROWS_AS(PosixFiles().rewrite(directory.path + "/none/file", "text"), Error);
}

TEST_CASE("files: what a killed process with our number left is no obstacle, and stays") {
  const WriteDirectory directory;
  const std::string path = directory.path + "/file", stale = path + ".tmp." + std::to_string(::getpid());
  std::ofstream(stale) << "half";
  for (const char* text : {"first", "second"}) {
    PosixFiles().write(path, text);
    CHECK(text_of(path) == text);
  }
  CHECK(text_of(stale) == "half");
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path), {}) == 2);
}

TEST_CASE("files: a pipe is written through and stays one; a directory is refused") {
  const WriteDirectory directory;
  const std::string pipe = directory.path + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string received;
  std::thread reader([&] { received = text_of(pipe); });
  PosixFiles().write(pipe, "through");
  reader.join();
  CHECK(received == "through");
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK_THROWS_AS(PosixFiles().write(directory.path, "x"), Error);
}

// As with fs.protected_symlinks of proc(5), which a container may have switched off.
TEST_CASE("files: where every user may create names, a link of another user is not followed") {
  if (::geteuid() != 0) return;  // only root can give a link to another user
  constexpr uid_t other = 65534;
  const WriteDirectory directory;
  const std::string shared = directory.path + "/shared", victim = directory.path + "/victim",
                    link = shared + "/out";
  std::filesystem::create_directory(shared);
  std::ofstream(victim) << "private";
  REQUIRE(::chmod(victim.c_str(), 0600) == 0);
  std::filesystem::create_symlink(victim, link);
  REQUIRE(::lchown(link.c_str(), other, other) == 0);
  struct Row {
    mode_t mode;
    bool written;
  };
  for (const Row row : {Row{01777, false}, Row{0777, false}, Row{0770, true}}) {
    CAPTURE(row.mode);
    REQUIRE(::chmod(shared.c_str(), row.mode) == 0);
    if (row.written)
      PosixFiles().write(link, "new");
    else
      CHECK_THROWS_AS(PosixFiles().write(link, "new"), Error);
    CHECK(text_of(victim) == (row.written ? "new" : "private"));
    struct stat status {};
    REQUIRE(::stat(victim.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
  }
}

TEST_CASE("files: the mode of a file that another user has put there is not kept") {
  if (::geteuid() != 0) return;
  const WriteDirectory directory;
  const std::string shared = directory.path + "/shared", file = shared + "/out";
  std::filesystem::create_directory(shared);
  REQUIRE(::chmod(shared.c_str(), 01777) == 0);
  std::ofstream(file) << "planted";
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
  PosixFiles().write(file, "new");
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK(status.st_uid == 0);
  CHECK((status.st_mode & 0022) == 0);
}

TEST_CASE("files: every directory that is made is private, whatever the umask is") {
  const WriteDirectory directory;
  const mode_t before = ::umask(0);
  PosixFiles().make_directories(directory.path + "/a/b/c");
  ::umask(before);
  for (const char* step : {"/a", "/a/b", "/a/b/c"}) {
    CAPTURE(step);
    struct stat status {};
    REQUIRE(::stat((directory.path + step).c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
  }
  PosixFiles().make_directories(directory.path + "/a/b/c");
  std::ofstream(directory.path + "/file") << "x";
  CHECK_THROWS_AS(PosixFiles().make_directories(directory.path + "/file/d"), Error);
  CHECK_THROWS_AS(PosixFiles().make_directories(directory.path + "/file"), Error);
}

TEST_CASE("files: the command for a file that is too large has its path as one word") {
  const WriteDirectory directory;
  const std::string path = directory.path + "/a; id";
  std::ofstream(path) << "12345";
  try {
    PosixFiles().read(path, 4);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.message().hint.ends_with(": file '" + path + "'"));
  }
}

}  // namespace ddlrun

TEST_SUITE_END();
