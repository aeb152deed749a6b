// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_bootstrap.hpp"

#include "ddl/core/shell_word.hpp"
#include "ddl/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace ddl {
namespace {

constexpr std::size_t min_token_bytes = 16;
constexpr std::size_t max_token_bytes = 4096;
constexpr int max_tcp_ranks = 1 << 16;
constexpr const char* how_to_make_a_token =
    "head -c 32 /dev/urandom | base64 > token; chmod 600 token; export DDL_TOKEN_FILE=$PWD/token";

Error bad_bootstrap(const std::string& what, const std::string& where, const std::string& hint) {
  return {Fault::usage, what, where, hint};
}

int parse_bootstrap_number(const char* name, const char* text, int least, int most) {
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value < least || value > most)
    throw bad_bootstrap(fmt::format("{}={}: a number from {} to {}", name, text, least, most), "environment",
                        fmt::format("export {}={}", name, least));
  return value;
}

// "h1:29400", "10.0.0.1:29400", "[fe80::1]:29400"
void parse_master(const std::string& text, TcpBootstrap& inspector) {
  const auto colon = text.rfind(':');
  const auto refuse = [&](const std::string& why) {
    return bad_bootstrap(fmt::format("DDL_MASTER={}: {}", text, why), "environment or Options::tcp",
                         "export DDL_MASTER=h1:29400: a host name or address of rank 0, and a free port");
  };
  if (colon == std::string::npos || colon == 0) throw refuse("no host and port");
  inspector.host = text.substr(0, colon);
  inspector.port = text.substr(colon + 1);
  if (inspector.host.size() > 2 && inspector.host.front() == '[' && inspector.host.back() == ']')
    inspector.host = inspector.host.substr(1, inspector.host.size() - 2);
  if (inspector.host == "0.0.0.0" || inspector.host == "::" || inspector.host == "*")
    throw refuse("that is every address of the host, rank 0 listens at one");
  int port = 0;
  const char* end = inspector.port.data() + inspector.port.size();
  const auto [stop, error] = std::from_chars(inspector.port.data(), end, port);
  if (error != std::errc() || stop != end || port < 0 || port > 65535)
    throw refuse("the port is a number up to 65535");
  if (port == 0) throw refuse("port 0 is any port: the other ranks could not know it");
}

std::string trim_token(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

void check_token_length(const std::string& token, const std::string& where) {
  if (token.size() < min_token_bytes)
    throw bad_bootstrap(fmt::format("a token of {} bytes, at least {}", token.size(), min_token_bytes), where,
                        how_to_make_a_token);
}

std::string find_token(const TcpOptions& start) {
  if (!start.token_file.empty()) return read_token(start.token_file);
  const std::string token = trim_token(start.token);
  if (token.empty())
    throw bad_bootstrap("ranks connect over TCP, but there is no token: nothing listens without one",
                        fmt::format("DDL_MASTER={}", start.master), how_to_make_a_token);
  check_token_length(token, "DDL_TOKEN");
  return token;
}

void check_bootstrap(const TcpOptions& start) {
  const char* const example =
      "export DDL_RANK=0 DDL_SIZE=2 DDL_MASTER=h1:29400, with another DDL_RANK on each rank";
  if (start.master.empty())
    throw bad_bootstrap("DDL_RANK or DDL_SIZE is set, DDL_MASTER is not", "environment or Options::tcp",
                        example);
  const char* const missing = start.rank < 0 ? "DDL_RANK" : start.size < 1 ? "DDL_SIZE" : nullptr;
  if (missing != nullptr)
    throw bad_bootstrap(fmt::format("DDL_MASTER={} is set, {} is not", start.master, missing),
                        "environment or Options::tcp", example);
  if (start.rank >= start.size)
    throw bad_bootstrap(
        fmt::format("rank {} of {}: ranks go from 0 to {}", start.rank, start.size, start.size - 1),
        "DDL_RANK and DDL_SIZE", fmt::format("export DDL_RANK={}", start.size - 1));
}

class TokenFile {
 public:
  explicit TokenFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~TokenFile() {
    if (fd_ >= 0) close(fd_);
  }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_token(const std::string& path) {
  const TokenFile file(path);
  struct stat found {};
  if (file.fd() < 0 || fstat(file.fd(), &found) != 0)
    throw bad_bootstrap(fmt::format("the token file cannot be read: {}", std::strerror(errno)), path,
                        how_to_make_a_token);
  if (!S_ISREG(found.st_mode))
    throw bad_bootstrap("the token file is not a regular file", path, how_to_make_a_token);
  if (found.st_uid != geteuid() && found.st_uid != 0)
    throw bad_bootstrap(
        fmt::format("the token file belongs to user {}, this is user {}", found.st_uid, geteuid()), path,
        fmt::format("cp {} token; chmod 600 token", quote_shell(path)));
  if ((found.st_mode & 077U) != 0)
    throw bad_bootstrap(
        fmt::format("others can read or write the token file: mode {:o}, not 600", found.st_mode & 07777U),
        path, fmt::format("chmod 600 {}", quote_shell(path)));
  std::array<char, max_token_bytes + 1> text{};
  const ssize_t length = read(file.fd(), text.data(), text.size());
  if (length < 0 || static_cast<std::size_t>(length) > max_token_bytes)
    throw bad_bootstrap(length < 0 ? std::strerror(errno) : "a token file of more than 4096 bytes", path,
                        how_to_make_a_token);
  const std::string token = trim_token({text.data(), static_cast<std::size_t>(length)});
  check_token_length(token, path);
  return token;
}

std::optional<TcpBootstrap> find_tcp_bootstrap(const std::optional<TcpOptions>& given,
                                               const Variables& variables, bool launched) {
  const char* const master = variables("DDL_MASTER");
  const char* const rank = variables("DDL_RANK");
  const char* const size = variables("DDL_SIZE");
  if (master == nullptr && !given && (launched || (rank == nullptr && size == nullptr))) return std::nullopt;
  TcpOptions start = given.value_or(TcpOptions{});
  if (master != nullptr) start.master = master;
  if (rank != nullptr) start.rank = parse_bootstrap_number("DDL_RANK", rank, 0, max_tcp_ranks - 1);
  if (size != nullptr) start.size = parse_bootstrap_number("DDL_SIZE", size, 1, max_tcp_ranks);
  const char* const token_file = variables("DDL_TOKEN_FILE");
  const char* const token = variables("DDL_TOKEN");
  if (token_file != nullptr || token != nullptr) {
    start.token_file = token_file == nullptr ? "" : token_file;
    start.token = token == nullptr ? "" : token;
  }
  if (!start.token_file.empty() && !start.token.empty())
    throw bad_bootstrap("both a token and a token file are given", "DDL_TOKEN and DDL_TOKEN_FILE",
                        "unset DDL_TOKEN");
  check_bootstrap(start);
  TcpBootstrap inspector{start.rank, start.size, "", "", ""};
  parse_master(start.master, inspector);
  if (inspector.size > 1) inspector.token = find_token(start);
  return inspector;
}

}  // namespace ddl
