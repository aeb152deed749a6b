// SPDX-License-Identifier: MIT
#include "man/installed_links.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ddlrun::man {

namespace {

constexpr std::string_view examples = "examples/", start_of_code = "    ";

std::string installed_path(const std::string& file, const InstalledTree& tree) {
  return (file.starts_with(examples) ? tree.data : tree.documents) + "/" + file;
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : std::string(path.substr(0, slash));
}

// From one directory to a file, both below the same root.
std::string relative_path(const std::string& from, const std::string& to) {
  const auto here = split(from, '/'), there = split(to, '/');
  const auto [left, right] = std::ranges::mismatch(here, there);
  std::vector<std::string> parts(static_cast<std::size_t>(here.end() - left), "..");
  parts.insert(parts.end(), right, there.end());
  return join(parts, "/");
}

bool is_relative(std::string_view target) {
  return !target.empty() && target[0] != '#' && target[0] != '/' && target.find(':') == target.npos;
}

// "[words](target)" as it is installed.
std::string fit_link(std::string_view words, std::string_view target, const std::string& page,
                     const InstalledTree& tree) {
  const std::size_t hash = std::min(target.find('#'), target.size());
  const std::string_view anchor = target.substr(hash);
  const std::string file = normal_path(folder_of(page) + "/" + std::string(target.substr(0, hash)));
  if (tree.files.contains(file)) {
    const std::string path = relative_path(folder_of(installed_path(page, tree)), installed_path(file, tree));
    return fmt::format("[{}]({}{})", words, path, anchor);
  }
  return file == words ? fmt::format("{} (in the source)", words)
                       : fmt::format("{} ({} in the source)", words, file);
}

// The links of a line; `line` may begin or end inside a link, which then stays as it is.
std::string fit_line(std::string_view line, const std::string& page, const InstalledTree& tree) {
  std::string fitted;
  std::size_t done = 0;
  for (std::size_t middle = line.find("]("); middle != line.npos; middle = line.find("](", middle + 2)) {
    const std::size_t end = line.find(')', middle), start = line.rfind('[', middle);
    if (end == line.npos || start == line.npos || start < done) continue;
    const std::string_view target = line.substr(middle + 2, end - middle - 2);
    if (!is_relative(target)) continue;
    fitted += line.substr(done, start - done);
    fitted += fit_link(line.substr(start + 1, middle - start - 1), target, page, tree);
    done = end + 1;
  }
  return fitted + std::string(line.substr(done));
}

}  // namespace

std::string normal_path(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..")
      parts.pop_back();
    else
      parts.emplace_back(part);
  }
  return join(parts, "/");
}

std::string fit_links(std::string_view text, const std::string& page, const InstalledTree& tree) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    lines.push_back(line.starts_with(start_of_code) ? std::string(line) : fit_line(line, page, tree));
  return join(lines, "\n");
}

}  // namespace ddlrun::man
