// SPDX-License-Identifier: MIT
#include "base/os/posix_system.hpp"
#include "base/os/standard_output.hpp"
#include "base/text/write_remedy.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace ddlrun {

namespace {

ssize_t write_and_drop(void*, const char* bytes, std::size_t size) {
  write_diagnostics({bytes, size});
  return static_cast<ssize_t>(size);
}

// fmt::print and stdio report a failed write of stderr as an error of the caller's.
void make_stderr_safe() {
  std::FILE* safe = ::fopencookie(nullptr, "w", {nullptr, write_and_drop, nullptr, nullptr});
  if (safe == nullptr) return;
  std::setvbuf(safe, nullptr, _IONBF, 0);  // as stderr itself
  stderr = safe;                           // glibc's is a variable
}

}  // namespace

Message unwritten_output(int code, std::string place) {
  return {fmt::format("cannot write the output: {}", std::strerror(code)), std::move(place),
          code == EFBIG ? write_remedy(code, "") : "df -h   # or send it to another disk"};
}

int run_with_output(std::string_view program, const std::function<int()>& command) {
  prepare_process();
  make_stderr_safe();
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
  std::fflush(stderr);
  if (code == 0 || status != 0) return status;
  write_diagnostics(render_error(program, unwritten_output(code, "standard output")));
  return exit_code(ErrorKind::request);
}

}  // namespace ddlrun
