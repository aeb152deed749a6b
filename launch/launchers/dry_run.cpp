// SPDX-License-Identifier: MIT
#include "launch/launchers/dry_run.hpp"

#include "base/text/text.hpp"
#include "launch/rank/rank_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

std::string comment(std::string_view text) { return fmt::format("# {}\n", printable(text, 400)); }

std::string render_reasons(const LaunchCommand& line) {
  std::size_t width = 0;
  for (const Reason& reason : line.reasons)
    width = std::max(width, std::min<std::size_t>(reason.subject.size(), 32));
  std::string text;
  for (const Reason& reason : line.reasons) {
    text += comment(fmt::format("{:<{}}  {}", printable(reason.subject, 120), width, reason.why));
  }
  return text;
}

std::string render_rankfile_part(const DryRun& run) {
  if (run.rankfile_text.empty()) return {};
  return fmt::format("mkdir -p -- {}\ncat > {} <<'END_OF_RANKFILE'\n{}END_OF_RANKFILE\n\n",
                     quote_shell(directory_of(run.rankfile_path)), quote_shell(run.rankfile_path),
                     run.rankfile_text);
}

std::string render_files_part(const LaunchCommand& line) {
  std::string text;
  for (const LaunchFile& file : line.files) {
    text += fmt::format("mkdir -p -- {}\ncat > {} <<'END_OF_FILE'\n{}END_OF_FILE\n\n",
                        quote_shell(directory_of(file.path)), quote_shell(file.path), file.text);
  }
  return text;
}

std::string render_environment_part(const LaunchCommand& line, const Exports& exports) {
  std::string text;
  for (const auto& [name, value] : line.own) text += fmt::format("export {}={}\n", name, quote_shell(value));
  if (!line.rank_map_path.empty())
    text += fmt::format("export {}=\"$(cat {})\"\n", rank_map_variable, quote_shell(line.rank_map_path));
  for (const auto& [name, value] : exports.set_by_us)
    text += fmt::format("export {}={}\n", name, quote_shell(value));
  for (const auto& [name, value] : exports.set_by_user) {
    text += fmt::format("export {0}=\"${{{0}:?set it first: values given by -x are not shown}}\"\n", name);
  }
  return text;
}

}  // namespace

std::string render_dry_run(const DryRun& run) {
  std::string text =
      "#!/bin/bash\n# Nothing was run or written. This does by hand what launch would do.\nset "
      "-eu\n\n";
  for (const std::string& remark : run.remarks) text += comment(remark);
  if (!run.remarks.empty()) text += "\n";
  text += render_rankfile_part(run) + render_files_part(run.line);
  text += render_environment_part(run.line, run.exports);
  text += "\n" + render_reasons(run.line);
  return text + render_shell(run.line.argv) + "\n";
}

}  // namespace ddlrun::launch
