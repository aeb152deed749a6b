// SPDX-License-Identifier: MIT
// When ranks connect over TCP, and which tokens are taken.
#include "ddl/transport/tcp/tcp_bootstrap.hpp"

#include "ddl/error.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

TEST_SUITE_BEGIN("ddl/transport/tcp/tcp_bootstrap");

namespace {

using Environment = std::map<std::string, std::string>;

ddl::Variables variables_of(const Environment& environment) {
  return [&environment](const char* name) {
    const auto at = environment.find(name);
    return at == environment.end() ? nullptr : at->second.c_str();
  };
}

class TokenDirectory {
 public:
  TokenDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "ddl_token_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TokenDirectory() { std::filesystem::remove_all(path_); }
  TokenDirectory(const TokenDirectory&) = delete;
  TokenDirectory& operator=(const TokenDirectory&) = delete;
  std::string file(const std::string& text, mode_t mode) const {
    const std::string path = path_ / "token";
    std::filesystem::remove(path);
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// "what | where | hint", or what was found.
std::string reported(const std::optional<ddl::TcpOptions>& given, const Environment& environment,
                     bool launched) {
  try {
    const auto inspector = ddl::find_tcp_bootstrap(given, variables_of(environment), launched);
    if (!inspector) return "no";
    return std::to_string(inspector->rank) + "/" + std::to_string(inspector->size) + " at " +
           inspector->host + " " + inspector->port + " " + inspector->token;
  } catch (const ddl::Error& error) {
    CHECK(error.fault() == ddl::Fault::usage);
    return std::string(error.what()) + " | " + error.where() + " | " + error.hint();
  }
}

const std::string long_token = "0123456789abcdef";

}  // namespace

TEST_CASE("ranks connect over TCP when the environment or the program says so") {
  struct Row {
    Environment environment;
    bool launched;
    std::string expected;  // all of it, or a part
  };
  const Row rows[] = {
      {{}, false, "no"},
      {{}, true, "no"},
      {{{"DDL_RANK", "1"}, {"DDL_SIZE", "2"}}, true, "no"},
      {{{"DDL_TOKEN", long_token}}, false, "no"},
      {{{"DDL_RANK", "1"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "h1:29400"}, {"DDL_TOKEN", long_token}},
       true,
       "1/2 at h1 29400 " + long_token},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "[::1]:1"}, {"DDL_TOKEN", long_token + "\n"}},
       false,
       "0/2 at ::1 1 " + long_token},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "1"}, {"DDL_MASTER", "h1:29400"}}, false, "0/1 at h1 29400 "},
      {{{"DDL_RANK", "1"}, {"DDL_SIZE", "2"}}, false, "DDL_MASTER is not"},
      {{{"DDL_SIZE", "2"}, {"DDL_MASTER", "h1:29400"}}, false, "DDL_RANK is not"},
      {{{"DDL_RANK", "0"}, {"DDL_MASTER", "h1:29400"}}, false, "DDL_SIZE is not"},
      {{{"DDL_RANK", "2"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "h1:29400"}}, false, "rank 2 of 2"},
      {{{"DDL_RANK", "-1"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "h1:29400"}},
       false,
       "DDL_RANK=-1: a number from 0"},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2x"}, {"DDL_MASTER", "h1:29400"}},
       false,
       "DDL_SIZE=2x: a number from 1"},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "h1"}}, false, "no host and port"},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", ":29400"}}, false, "no host and port"},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "h1:0"}},
       false,
       "the other ranks could not know it"},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "h1:65536"}}, false, "up to 65535"},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "0.0.0.0:29400"}}, false, "listens at one"},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "h1:29400"}},
       false,
       "head -c 32 /dev/urandom | base64 > token; chmod 600 token"},
      {{{"DDL_RANK", "0"}, {"DDL_SIZE", "2"}, {"DDL_MASTER", "h1:29400"}, {"DDL_TOKEN", "short"}},
       false,
       "a token of 5 bytes, at least 16"},
      {{{"DDL_RANK", "0"},
        {"DDL_SIZE", "2"},
        {"DDL_MASTER", "h1:29400"},
        {"DDL_TOKEN", long_token},
        {"DDL_TOKEN_FILE", "token"}},
       false,
       "unset DDL_TOKEN"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.expected);
    const std::string found = reported({}, row.environment, row.launched);
    CHECK((found == row.expected ||
           (row.expected.size() > 2 && found.find(row.expected) != std::string::npos)));
    CAPTURE(found);
    CHECK((row.expected != "no" || found == "no"));
  }
}

TEST_CASE("the environment goes before what a program gives") {
  ddl::TcpOptions given;
  given.rank = 1;
  given.size = 3;
  given.master = "h7:29400";
  given.token = "of the program, quite long";
  CHECK(reported(given, {}, true) == "1/3 at h7 29400 of the program, quite long");
  CHECK(reported(given, {{"DDL_RANK", "2"}, {"DDL_TOKEN", long_token}}, true) ==
        "2/3 at h7 29400 " + long_token);
  CHECK(reported(given, {{"DDL_MASTER", "h1:1"}}, true) == "1/3 at h1 1 of the program, quite long");
}

TEST_CASE("a token file is for its owner only") {
  const TokenDirectory directory;
  struct Row {
    mode_t mode;
    bool taken;
  };
  for (const Row& row : {Row{0600, true}, Row{0400, true}, Row{0640, false}, Row{0604, false},
                         Row{0644, false}, Row{0620, false}, Row{0602, false}}) {
    CAPTURE(row.mode);
    const std::string path = directory.file(long_token + "\n", row.mode);
    if (row.taken) {
      CHECK(ddl::read_token(path) == long_token);
      continue;
    }
    try {
      ddl::read_token(path);
      FAIL("taken");
    } catch (const ddl::Error& error) {
      CHECK(error.where() == path);
      CHECK(error.hint() == "chmod 600 '" + path + "'");
    }
  }
}

TEST_CASE("the path in a hint is one word for a shell") {
  const TokenDirectory directory;
  const std::string path = directory.path() + "/tok'en;x";
  std::ofstream(path) << long_token;
  REQUIRE(chmod(path.c_str(), 0644) == 0);
  try {
    ddl::read_token(path);
    FAIL("taken");
  } catch (const ddl::Error& error) {
    REQUIRE(std::system(error.hint().c_str()) == 0);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  CHECK(ddl::read_token(path) == long_token);
}

TEST_CASE("what else is no token file") {
  const TokenDirectory directory;
  CHECK_THROWS_AS(ddl::read_token(directory.path() + "/none"), ddl::Error);
  CHECK_THROWS_AS(ddl::read_token(directory.path()), ddl::Error);
  CHECK_THROWS_AS(ddl::read_token("/dev/zero"), ddl::Error);
  CHECK_THROWS_AS(ddl::read_token(directory.file("", 0600)), ddl::Error);
  CHECK_THROWS_AS(ddl::read_token(directory.file("0123456789abcde\n", 0600)), ddl::Error);
  CHECK_THROWS_AS(ddl::read_token(directory.file(std::string(4097, 'x'), 0600)), ddl::Error);
  CHECK(ddl::read_token(directory.file(std::string(4096, 'x'), 0600)).size() == 4096);
}

TEST_SUITE_END();
