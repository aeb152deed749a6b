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

}  // namespace ddlrun

TEST_SUITE_END();
