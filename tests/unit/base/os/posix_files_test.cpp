// SPDX-License-Identifier: MIT
// The door that writes whole files, where links, pipes and folders lie at the name.
#include "base/os/posix_system.hpp"
#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace ddlrun {
namespace {

struct WriteFolder {
  WriteFolder()
      : path(PosixFiles().make_folder((std::filesystem::temp_directory_path() / "write_test.").string())) {}
  ~WriteFolder() { std::filesystem::remove_all(path); }
  WriteFolder(const WriteFolder&) = delete;
  WriteFolder& operator=(const WriteFolder&) = delete;
  std::string path;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_SUITE_BEGIN("base/os/posix_files");

TEST_CASE("files: links stay, and what they lead to is written, there or not yet") {
  const WriteFolder folder;
  std::filesystem::create_symlink("hop", folder.path + "/link");
  std::filesystem::create_symlink("target", folder.path + "/hop");
  for (const char* text : {"first", "second"}) {
    PosixFiles().write(folder.path + "/link", text);
    CHECK(text_of(folder.path + "/target") == text);
  }
  CHECK(std::filesystem::is_symlink(folder.path + "/link"));
  CHECK(std::filesystem::is_symlink(folder.path + "/hop"));
}

TEST_CASE("files: a pipe is written through and stays one; a folder is refused") {
  const WriteFolder folder;
  const std::string pipe = folder.path + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::string received;
  std::thread reader([&] { received = text_of(pipe); });
  PosixFiles().write(pipe, "through");
  reader.join();
  CHECK(received == "through");
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK_THROWS_AS(PosixFiles().write(folder.path, "x"), Error);
}

}  // namespace ddlrun

TEST_SUITE_END();
