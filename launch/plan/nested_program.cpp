// SPDX-License-Identifier: MIT
#include "launch/plan/nested_program.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/nested_launcher.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

void check_not_nested(const Command& program, std::size_t ranks, std::size_t hosts,
                      const std::string& own_line) {
  const auto nested = frameworks::find_nested_launcher(program);
  if (!nested || ranks < 2) return;
  if (nested->stays_on_host && ranks == hosts) return;
  const std::string own = nested->program.empty() ? "PROGRAM" : render_shell(nested->program);
  // A shape on ddlrun's own line counts, else the launcher's.
  const bool has_shape = own_line.find(' ') != own_line.rfind(' ');
  const std::string shape = has_shape || nested->shape.empty() ? "" : " " + render_shell(nested->shape);
  throw Error(ErrorKind::request,
              {fmt::format("{} starts ranks itself: each of {} ranks would start all of them again",
                           nested->name, ranks),
               "the program after --", fmt::format("{}{} -- {}", own_line, shape, own)});
}

}  // namespace ddlrun::launch
