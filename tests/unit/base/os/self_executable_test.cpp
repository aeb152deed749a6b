// SPDX-License-Identifier: MIT
#include "base/os/self_executable.hpp"

#include "base/os/path_owner.hpp"
#include "base/text/text.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/os/self_executable");

// The shell's function and find_replaceable_step() follow one rule.
TEST_CASE("a path is trusted only if no other user can put a file there") {
  if (::geteuid() != 0) return;  // only root can give a file to somebody else
  constexpr uid_t other = 65534;
  std::string base = "/tmp/ddlrun-trusted-XXXXXX";
  REQUIRE(::mkdtemp(base.data()) != nullptr);
  REQUIRE(::chmod(base.c_str(), 0755) == 0);
  const auto make_dir = [&](const std::string& name, mode_t mode, uid_t owner) {
    REQUIRE(::mkdir((base + name).c_str(), 0755) == 0);
    REQUIRE(::chmod((base + name).c_str(), mode) == 0);
    REQUIRE(::chown((base + name).c_str(), owner, owner) == 0);
  };
  const auto make_file = [&](const std::string& name, uid_t owner) {
    std::ofstream(base + name) << "x";
    REQUIRE(::chown((base + name).c_str(), owner, owner) == 0);
  };
  const auto make_link = [&](const std::string& target, const std::string& name, uid_t owner) {
    REQUIRE(::symlink(target.c_str(), (base + name).c_str()) == 0);
    REQUIRE(::lchown((base + name).c_str(), owner, owner) == 0);
  };
  make_dir("/own dir", 0755, 0);
  make_file("/own dir/a b", 0);
  make_file("/own dir/theirs", other);
  make_dir("/their", 0755, other);
  make_file("/their/mine", 0);
  make_dir("/open", 0777, 0);
  make_dir("/open/sub", 0755, 0);
  make_file("/open/sub/x", 0);
  make_file("/own dir/open file", 0);
  REQUIRE(::chmod((base + "/own dir/open file").c_str(), 0777) == 0);
  make_file("/own dir/sticky file", 0);
  REQUIRE(::chmod((base + "/own dir/sticky file").c_str(), 01777) == 0);
  make_link("own dir", "/mine", 0);
  make_link("own dir", "/link", other);
  make_link("loop", "/loop", 0);
  // Outside /tmp: a directory of the site's account, as /apps often is.
  std::string site = "/var/lib/ddlrun-trusted-XXXXXX";
  REQUIRE(::mkdtemp(site.data()) != nullptr);
  REQUIRE(::chmod(site.c_str(), 0775) == 0);
  std::ofstream(site + "/x") << "x";
  REQUIRE(::chown((site + "/x").c_str(), other, other) == 0);
  REQUIRE(::chown(site.c_str(), other, other) == 0);
  make_link(site, "/away", 0);

  struct Row {
    std::string path, why;
  };
  const Row rows[] = {
      {base + "/own dir/a b", ""},
      {base + "/./own dir/../own dir/a b", ""},
      {base + "/mine/a b", ""},
      {base + "/away/x", ""},
      {site + "/x", ""},
      {base + "/own dir/theirs", base + "/own dir/theirs belongs to user 65534"},
      {base + "/their/mine", base + "/their belongs to user 65534"},
      {base + "/link/a b", base + "/link belongs to user 65534"},
      {base + "/own dir/open file", "every user can write to " + base + "/own dir/open file"},
      {base + "/own dir/sticky file", "every user can write to " + base + "/own dir/sticky file"},
      {base + "/open/sub/x", "every user can write to " + base + "/open"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    CHECK(find_replaceable_step(row.path) == row.why);
    const std::string script = std::string(trusted_function) + " trusted '" + row.path + "'";
    CHECK((std::system(script.c_str()) == 0) ==
          row.why.empty());  // NOLINT(concurrency-mt-unsafe): one thread
  }
  CHECK(find_replaceable_step(base + "/own dir/missing").empty());
  CHECK(find_replaceable_step(base + "/loop/x").empty());
  std::filesystem::remove_all(site);
  std::filesystem::remove_all(base);
}

TEST_CASE("our own path is not executed where it is another user's file") {
  if (::geteuid() != 0) return;
  std::string directory = "/tmp/ddlrun-guard-XXXXXX";
  REQUIRE(::mkdtemp(directory.data()) != nullptr);
  const std::string file = directory + "/d";
  std::ofstream(file) << "#!/bin/sh\n[ \"$1\" = 'a b' ] || exit 1\nexit 7\n";
  REQUIRE(::chmod(file.c_str(), 0755) == 0);
  const auto run = [&] {
    std::string line;
    for (const std::string& word : guard_own_path({file, "a b"})) line += quote_shell(word) + " ";
    return WEXITSTATUS(
        std::system((line + "2>/dev/null").c_str()));  // NOLINT(concurrency-mt-unsafe): one thread
  };
  CHECK(run() == 7);
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
  CHECK(run() == 126);
  std::filesystem::remove_all(directory);
  CHECK(run() == 126);
}

TEST_SUITE_END();
