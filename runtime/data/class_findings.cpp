// SPDX-License-Identifier: MIT
#include "runtime/data/class_findings.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>

namespace ddlrun::runtime {
namespace {

struct ClassFiles {
  std::size_t images = 0;                      // that are read
  std::map<std::string, std::size_t> formats;  // of images that are not read: ".webp"
  std::size_t others = 0;
};

bool is_foreign_image(const std::string& ending) {
  constexpr std::array<std::string_view, 12> endings{".webp", ".tif",  ".tiff", ".heic", ".heif", ".gif",
                                                     ".bmp",  ".avif", ".jp2",  ".jxl",  ".pbm",  ".svg"};
  return std::ranges::find(endings, ending) != endings.end();
}

ClassFiles count_files(const std::string& directory) {
  ClassFiles found;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(directory, ignored), end; at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (name.front() == '.' || at->is_directory(ignored)) continue;
    const std::string ending = ending_of(name);
    if (has_image_name(name)) {
      ++found.images;
    } else if (is_foreign_image(ending)) {
      ++found.formats[ending];
    } else {
      ++found.others;
    }
  }
  return found;
}

// "12 .webp and 3 .tif"
std::string render_formats(const std::map<std::string, std::size_t>& formats) {
  std::vector<std::string> words;
  for (const auto& [ending, count] : formats) words.push_back(fmt::format("{} {}", count, ending));
  return join(words, " and ");
}

std::string convert_hint(const std::string& directory, const ClassFiles& found) {
  return fmt::format("mogrify -format png {}/*{}   # ImageMagick; .jpg, .png and .pnm are read",
                     quote_shell(directory), found.formats.begin()->first);
}

// A class without images that can be read.
Message describe_unread(const std::string& name, const std::string& directory, const ClassFiles& found) {
  const std::string what = fmt::format("the class \"{}\" has no image that can be read", printable(name, 80));
  const std::string where = printable(directory);
  if (!found.formats.empty())
    return {what + ", only " + render_formats(found.formats), where, convert_hint(directory, found)};
  return {what + ", only " + count_of(found.others, "other file"), where,
          fmt::format("ls {}   # add images, or move the directory away", quote_shell(directory))};
}

Message describe_empty(const std::string& name, const std::string& directory) {
  return {fmt::format("the directory \"{}\" has no files, so it is no class of this training",
                      printable(name, 80)),
          printable(directory),
          fmt::format("ls {}   # images belong directly into it", quote_shell(directory))};
}

Message describe_partly(const std::string& name, const std::string& directory, const ClassFiles& found) {
  return {fmt::format("the class \"{}\" is used without {}, which are not read; {} {}", printable(name, 80),
                      render_formats(found.formats), count_of(found.images, "image"),
                      found.images == 1 ? "is" : "are"),
          printable(directory), convert_hint(directory, found)};
}

Message describe_untested(const std::string& name, const std::string& test) {
  return {fmt::format("the class \"{}\" has no test images: the test accuracy is that of the other classes",
                      printable(name, 80)),
          printable(test), fmt::format("ls {}   # images of the class belong there", quote_shell(test))};
}

}  // namespace

std::vector<Message> check_class_directories(const std::string& directory, const std::string& test) {
  std::vector<Message> warnings;
  for (const std::string& name : list_subdirectories(directory)) {
    const std::string place = directory + "/" + name;
    const ClassFiles found = count_files(place);
    if (found.images == 0 && (found.others != 0 || !found.formats.empty()))
      throw Error(ErrorKind::request, describe_unread(name, place, found));
    if (found.images == 0) {
      warnings.push_back(describe_empty(name, place));
      continue;
    }
    if (!found.formats.empty()) warnings.push_back(describe_partly(name, place, found));
    const std::string tests = test.empty() ? "" : test + "/" + name;
    if (tests.empty()) continue;
    const ClassFiles tested = count_files(tests);
    if (tested.images == 0) warnings.push_back(describe_untested(name, test));
    if (tested.images != 0 && !tested.formats.empty())
      warnings.push_back(describe_partly(name, tests, tested));
  }
  return warnings;
}

}  // namespace ddlrun::runtime
