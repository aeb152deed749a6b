// SPDX-License-Identifier: MIT
#include "base/error.hpp"
#include "base/standard_output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace ddlrun {

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
  const Message message{fmt::format("cannot write the output: {}", std::strerror(code)), "standard output",
                        "df -h   # or send it to another disk"};
  fmt::print(stderr, "{}", render_error(program, message));
  return exit_code(ErrorKind::request);
}

}  // namespace ddlrun
