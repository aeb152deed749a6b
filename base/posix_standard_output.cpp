// SPDX-License-Identifier: MIT
#include "base/standard_output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace ddlrun {

Message unwritten_output(int code, std::string place) {
  return {fmt::format("cannot write the output: {}", std::strerror(code)), std::move(place),
          "df -h   # or send it to another disk"};
}

int run_with_output(std::string_view program, const std::function<int()>& command) {
  int status = 0, code = 0;
  try {
    status = command();
  } catch (const std::system_error& error) {  // fmt's, for more than stdio keeps
    if (std::ferror(stdout) == 0) throw;
    code = error.code().value();
  }
  errno = 0;
  if (std::fflush(stdout) != 0 && code == 0) code = errno;
  if (std::ferror(stdout) != 0 && code == 0) code = EIO;
  if (code == 0 || status != 0) return status;
  fmt::print(stderr, "{}", render_error(program, unwritten_output(code, "standard output")));
  return exit_code(ErrorKind::request);
}

}  // namespace ddlrun
