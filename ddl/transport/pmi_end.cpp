// SPDX-License-Identifier: MIT
#include "ddl/transport/pmi_end.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>

namespace ddl {
namespace {

// The number at the begin of `text`, which it takes away; -1 where there is none.
int take_number(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// One byte at a time: what follows the line is MPI's.
std::string read_line(int fd) {
  constexpr std::size_t longest = 256;
  std::string line;
  while (line.size() < longest) {
    char next = 0;
    const ssize_t got = read(fd, &next, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || next == '\n') break;
    line += next;
  }
  return line;
}

bool ask_pmi(int fd, std::string_view question, std::string_view answer) {
  return write_all(fd, question) && read_line(fd).starts_with(answer);
}

}  // namespace

bool may_hang_in_finalize(std::string_view version) {
  constexpr std::string_view begin = "MPICH Version:";
  if (!version.starts_with(begin) || version.find("ch4:ucx") == std::string_view::npos) return false;
  version.remove_prefix(std::min(version.find_first_not_of(" \t", begin.size()), version.size()));
  const int major = take_number(version);
  if (!version.starts_with('.')) return false;
  version.remove_prefix(1);
  const int minor = take_number(version);
  return major < 4 || (major == 4 && minor < 2);
}

bool end_pmi(int fd) {
  return ask_pmi(fd, "cmd=barrier_in\n", "cmd=barrier_out") &&
         ask_pmi(fd, "cmd=finalize\n", "cmd=finalize_ack");
}

}  // namespace ddl
