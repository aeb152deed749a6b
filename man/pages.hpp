// SPDX-License-Identifier: MIT
// The man pages and the reference, from the tables of the programs and sections of docs/. Pure.
#pragma once

#include "man/document.hpp"
#include "man/reference.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::man {

struct Sources {
  Reference reference;
  std::map<std::string, std::vector<Block>> docs;  // "launch.md"
  std::string date, version;
};

struct OutputFile {
  std::string path;  // "man1/ddlrun-launch.1", "reference/options.md"
  std::string text;
};

// Throws std::runtime_error where a section of docs/ that a page needs is missing.
std::vector<OutputFile> render_pages(const Sources& sources);

// Options, settings, checks, signatures and rules as Markdown.
std::vector<OutputFile> render_reference(const Sources& sources);

// The blocks of a section; without its tables where `with_tables` is false.
std::vector<Block> find_section(const Sources& sources, const std::string& file, std::string_view title,
                                bool with_tables = true);

}  // namespace ddlrun::man
