// SPDX-License-Identifier: MIT
#include "launch/plan/nested_program.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/nested_launcher.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

void check_not_nested(const Command& program, std::size_t ranks, std::size_t hosts, const OwnLine& own) {
  const auto nested = frameworks::find_nested_launcher(program);
  if (!nested || ranks < 2) return;
  if (nested->stays_on_host && ranks == hosts) return;
  const std::string inner = nested->program.empty() ? "PROGRAM" : render_shell(nested->program);
  const std::string shape = own.has_shape || nested->shape.empty() ? "" : " " + render_shell(nested->shape);
  throw Error(ErrorKind::request,
              {fmt::format("{} starts ranks itself: each of {} ranks would start all of them again",
                           nested->name, ranks),
               "the program after --", fmt::format("{}{} -- {}", own.words, shape, inner)});
}

}  // namespace ddlrun::launch
