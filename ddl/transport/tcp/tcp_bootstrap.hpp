// SPDX-License-Identifier: MIT
// Whether ranks connect over TCP, and with which token: from DDL_RANK, DDL_SIZE, DDL_MASTER,
// DDL_TOKEN_FILE and DDL_TOKEN, over Options::tcp. Without a token nothing listens.
#pragma once

#include "ddl/ddl.hpp"

#include <functional>
#include <optional>
#include <string>

namespace ddl {

// A TcpOptions that has been checked.
struct TcpBootstrap {
  int rank = 0;
  int size = 1;
  std::string host;  // of rank 0
  std::string port;
  std::string token;  // empty where one rank is all there is
};

// The value of a variable of the environment, or null.
using Variables = std::function<const char*(const char* name)>;

// Nothing unless DDL_MASTER or `given` requests it. Throws Error(usage) when something is missing or wrong;
// also when DDL_RANK or DDL_SIZE is set alone and `launched` is false: such a process would run for itself.
std::optional<TcpBootstrap> find_tcp_bootstrap(const std::optional<TcpOptions>& given,
                                               const Variables& variables, bool launched);

// The file's text without white space at its end. Throws Error(usage) unless it is a regular file of this
// user or of root that no other user can read, with at least 16 bytes.
std::string read_token(const std::string& path);

}  // namespace ddl
