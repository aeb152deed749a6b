// SPDX-License-Identifier: MIT
#include "runtime/app/open_model.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ddlrun::runtime {

SavedModel open_model(const std::string& program, const std::string& path,
                      const std::vector<std::string>& words) {
  const std::string reader = program + " {}" + (words.empty() ? "" : " " + render_shell(words));
  SavedModel model = load_model(*make_posix_disk(), path, reader);
  for (const std::string& why : model.skipped)
    fmt::print(stderr, "{}",
               render_message(program, "warning",
                              {"a newer checkpoint was skipped; this is of " + printable(model.file),
                               printable(why), "ls -l " + quote_shell(path)}));
  return model;
}

}  // namespace ddlrun::runtime
