// SPDX-License-Identifier: MIT
#include "runtime/data/image_files.hpp"

#include "base/text/text.hpp"
#include "runtime/core/path.hpp"
#include "runtime/data/directory_entries.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace ddlrun::runtime {
namespace {

using DirectoryId = std::pair<dev_t, ino_t>;

bool ends_as(std::string_view name, std::span<const std::string_view> endings) {
  return !name.starts_with('.') && std::ranges::find(endings, ending_of(name)) != endings.end();
}

class FileWalk {
 public:
  FileWalk(const std::string& root, const std::function<bool(const std::string&)>& visit)
      : root_(root), visit_(visit) {}

  // `below`: "" or "monday/". Returns false after `visit` did.
  bool walk(const std::string& below) {
    const std::string directory = below.empty() ? root_ : join_path(root_, below.substr(0, below.size() - 1));
    struct stat status {};
    if (!is_directory(directory) || stat(directory.c_str(), &status) != 0) return true;
    const DirectoryId own{status.st_dev, status.st_ino};
    if (std::ranges::find(above_, own) != above_.end()) return true;  // a link to a directory above
    above_.push_back(own);
    bool goes_on = true;
    for (const DirectoryEntry& entry : list_entries(directory)) {
      goes_on = entry.is_directory ? walk(below + entry.name + "/") : visit_(below + entry.name);
      if (!goes_on) break;
    }
    above_.pop_back();
    return goes_on;
  }

 private:
  const std::string& root_;
  const std::function<bool(const std::string&)>& visit_;
  std::vector<DirectoryId> above_;
};

std::pair<std::string_view, std::string_view> split_place(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::string_view all = name;
  if (slash == std::string::npos) return {"", all};
  return {all.substr(0, slash), all.substr(slash + 1)};
}

}  // namespace

std::string ending_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : to_lower(name.substr(dot));
}

bool has_image_name(std::string_view name) {
  static constexpr std::array<std::string_view, 6> endings{".jpg", ".jpeg", ".png", ".ppm", ".pgm", ".pnm"};
  return ends_as(name, endings);
}

bool has_foreign_image_name(std::string_view name) {
  static constexpr std::array<std::string_view, 12> endings{
      ".webp", ".tif", ".tiff", ".heic", ".heif", ".gif", ".bmp", ".avif", ".jp2", ".jxl", ".pbm", ".svg"};
  return ends_as(name, endings);
}

std::string convert_images_hint(const std::string& foreign) {
  return "mogrify -format png " + foreign + "   # ImageMagick; .jpg, .png and .pnm are read";
}

std::string convert_files_hint(const std::vector<std::string>& files) {
  const std::string directory = directory_of(files.front());
  std::set<std::string> patterns;
  for (const std::string& file : files) {
    if (directory_of(file) != directory) continue;
    const std::string_view name = base_name(file);
    patterns.insert(quote_shell(directory) + "/*" + std::string(name.substr(name.rfind('.'))));
  }
  return convert_images_hint(join(std::vector<std::string>(patterns.begin(), patterns.end()), " "));
}

void visit_files_below(const std::string& directory, const std::function<bool(const std::string&)>& visit) {
  FileWalk(directory, visit).walk("");
}

std::vector<std::string> list_files_below(const std::string& directory) {
  std::vector<std::string> names;
  visit_files_below(directory, [&](const std::string& name) {
    names.push_back(name);
    return true;
  });
  std::ranges::sort(names, {}, split_place);
  return names;
}

}  // namespace ddlrun::runtime
