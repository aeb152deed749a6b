// SPDX-License-Identifier: MIT
// fit-links OUT SOURCE DOCUMENTS DATA FILE...: writes each FILE that is a page (.md) of the source tree below
// OUT, with the links that fit the directories DOCUMENTS and DATA of an installation. Other FILEs are
// installed as they are; pages link to them. The build runs it.
#include "base/os/posix_system.hpp"
#include "base/os/standard_output.hpp"
#include "base/text/error.hpp"
#include "man/installed_links.hpp"

#include <exception>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t most_bytes_of_page = 64u << 20;

int fit_pages(const std::vector<std::string>& words) {
  if (words.size() < 5)
    throw ddlrun::Error(ddlrun::ErrorKind::usage,
                        {"arguments are missing", "", "OUT SOURCE DOCUMENTS DATA FILE..."});
  ddlrun::PosixFiles files;
  const ddlrun::man::InstalledTree tree{{words.begin() + 4, words.end()}, words[2], words[3]};
  for (const std::string& page : tree.files) {
    if (!page.ends_with(".md")) continue;
    const std::string path = words[0] + "/" + page;
    files.make_directories(path.substr(0, path.rfind('/')));
    files.write(path, fit_links(files.read(words[1] + "/" + page, most_bytes_of_page), page, tree));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return ddlrun::run_with_output("fit-links", [&]() -> int {
    try {
      return fit_pages({argv + 1, argv + argc});
    } catch (const ddlrun::Error& error) {
      ddlrun::write_diagnostics(ddlrun::render_error("fit-links", error.message()));
    } catch (const std::exception& error) {
      ddlrun::write_diagnostics(std::string("fit-links: ") + error.what() + "\n");
    }
    return 1;
  });
}
