// SPDX-License-Identifier: MIT
// make-pages OUT DOCS DATE VERSION REFERENCE...: writes the man pages and the reference below OUT. The build
// runs it.
#include "base/os/posix_system.hpp"
#include "base/os/standard_output.hpp"
#include "base/text/error.hpp"
#include "man/pages.hpp"

#include <exception>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t most_bytes = 64u << 20;
const std::vector<std::string> docs_read = {
    "benchmarks.md", "diagnose.md", "doctor.md", "exit_status_and_files.md",
    "frameworks.md", "jobs.md",     "launch.md", "profiles_and_templates.md",
    "rankfiles.md",  "training.md"};

int make_pages(const std::vector<std::string>& words) {
  if (words.size() < 5)
    throw ddlrun::Error(ddlrun::ErrorKind::usage,
                        {"arguments are missing", "", "OUT DOCS DATE VERSION FILE..."});
  ddlrun::PosixFiles files;
  ddlrun::man::Sources sources;
  sources.date = words[2];
  sources.version = words[3];
  for (const std::string& name : docs_read)
    sources.docs[name] = ddlrun::man::parse_markdown(files.read(words[1] + "/" + name, most_bytes));
  for (std::size_t i = 4; i < words.size(); ++i)
    ddlrun::man::read_reference(files.read(words[i], most_bytes), sources.reference);
  auto output = ddlrun::man::render_pages(sources);
  for (auto& file : ddlrun::man::render_reference(sources)) output.push_back(std::move(file));
  for (const auto& file : output) {
    const std::string path = words[0] + "/" + file.path;
    files.make_directories(path.substr(0, path.rfind('/')));
    files.write(path, file.text);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return ddlrun::run_with_output("make-pages", [&]() -> int {
    try {
      return make_pages({argv + 1, argv + argc});
    } catch (const ddlrun::Error& error) {
      ddlrun::write_diagnostics(ddlrun::render_error("make-pages", error.message()));
    } catch (const std::exception& error) {
      ddlrun::write_diagnostics(std::string("make-pages: ") + error.what() + "\n");
    }
    return 1;
  });
}
