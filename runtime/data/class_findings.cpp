// SPDX-License-Identifier: MIT
#include "runtime/data/class_findings.hpp"

#include "base/text/text.hpp"
#include "runtime/core/path.hpp"
#include "runtime/data/image_files.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace ddlrun::runtime {
namespace {

struct ClassFiles {
  std::size_t images = 0;                      // that are read
  std::map<std::string, std::size_t> formats;  // of images that are not read: ".webp"
  std::vector<std::string> foreign;            // where they are: "monday/1.webp"
  std::size_t others = 0;
};

ClassFiles count_files(const std::string& directory) {
  ClassFiles found;
  for (const std::string& name : list_files_below(directory)) {
    const std::string_view file = base_name(name);
    if (has_image_name(file)) {
      ++found.images;
    } else if (has_foreign_image_name(file)) {
      ++found.formats[ending_of(file)];
      found.foreign.push_back(join_path(directory, name));
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

// A class without images that can be read.
Message describe_unread(const std::string& name, const std::string& directory, const ClassFiles& found) {
  const std::string what = fmt::format("the class \"{}\" has no image that can be read", printable(name, 80));
  const std::string where = printable(directory);
  if (!found.formats.empty())
    return {what + ", only " + render_formats(found.formats), where, convert_files_hint(found.foreign)};
  return {what + ", only " + count_of(found.others, "other file"), where,
          fmt::format("ls {}   # add images, or move the directory away", quote_shell(directory))};
}

Message describe_empty(const std::string& name, const std::string& directory) {
  return {fmt::format("the directory \"{}\" has no files, so it is no class of this training",
                      printable(name, 80)),
          printable(directory),
          fmt::format("ls {}   # images of the class belong there", quote_shell(directory))};
}

Message describe_partly(const std::string& name, const std::string& directory, const ClassFiles& found) {
  return {fmt::format("the class \"{}\" is used without {}, which are not read; {} {}", printable(name, 80),
                      render_formats(found.formats), count_of(found.images, "image"),
                      found.images == 1 ? "is" : "are"),
          printable(directory), convert_files_hint(found.foreign)};
}

Message describe_single(const std::string& name, const std::string& directory) {
  return {fmt::format("the class \"{}\" has a single training image", printable(name, 80)),
          printable(directory),
          fmt::format("ls -R {}   # a net needs tens of images of a class", quote_shell(directory))};
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
    const std::string place = join_path(directory, name);
    const ClassFiles found = count_files(place);
    if (found.images == 0 && (found.others != 0 || !found.formats.empty()))
      throw Error(ErrorKind::request, describe_unread(name, place, found));
    if (found.images == 0) {
      warnings.push_back(describe_empty(name, place));
      continue;
    }
    if (!found.formats.empty()) warnings.push_back(describe_partly(name, place, found));
    if (found.images == 1) warnings.push_back(describe_single(name, place));
    const std::string tests = test.empty() ? "" : join_path(test, name);
    if (tests.empty()) continue;
    const ClassFiles tested = count_files(tests);
    if (tested.images == 0) warnings.push_back(describe_untested(name, test));
    if (tested.images != 0 && !tested.formats.empty())
      warnings.push_back(describe_partly(name, tests, tested));
  }
  return warnings;
}

std::vector<Message> find_untested(const ClassDirectories& classes, const ImageSource& tests) {
  std::vector<bool> is_tested(classes.names.size());
  for (std::size_t i = 0; i < tests.count(); ++i) is_tested.at(tests.label(i)) = true;
  std::vector<Message> warnings;
  for (std::size_t one = 0; one < is_tested.size(); ++one)
    if (!is_tested[one]) warnings.push_back(describe_untested(classes.names[one], classes.path));
  return warnings;
}

}  // namespace ddlrun::runtime
