// SPDX-License-Identifier: MIT
// The pages of the source tree as they are installed: their relative links fit the places there.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace ddlrun::man {

// What is installed, and where. Files are named as in the source: "docs/jobs.md".
struct InstalledTree {
  std::set<std::string> files;
  // The directory of documents and that of data (which has examples/), from the same root:
  // "share/doc/ddlrun".
  std::string documents, data;
};

// "docs/../examples/jobs" -> "examples/jobs"; ".." above the first directory stays.
std::string normal_path(std::string_view path);

// The text of `page`, itself one of `tree.files`. A link to an installed file leads there; another relative
// link becomes its text with the place in the source. Lines of code blocks stay as they are.
std::string fit_links(std::string_view text, const std::string& page, const InstalledTree& tree);

}  // namespace ddlrun::man
