// SPDX-License-Identifier: MIT
#include "runtime/data/file_list.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/write_remedy.hpp"
#include "runtime/core/error_list.hpp"
#include "runtime/core/hash.hpp"
#include "runtime/core/path.hpp"
#include "runtime/data/directory_entries.hpp"
#include "runtime/data/image_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <span>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t most_list_errors = 10;
constexpr std::uint64_t largest_label = UINT16_MAX;
constexpr const char* class_names_file = "classes.txt";
constexpr std::array<std::string_view, 4> split_names{"train", "test", "val", "eval"};

bool holds_images(const std::string& directory) {
  bool found = false;
  visit_files_below(directory, [&](const std::string& name) {
    found = has_image_name(base_name(name));
    return !found;
  });
  return found;
}

// Images in it, not in directories below it.
bool holds_images_itself(const std::string& directory) {
  return std::ranges::any_of(list_entries(directory),
                             [](const DirectoryEntry& entry) { return has_image_name(entry.name); });
}

bool is_named_as_split(const std::string& name) {
  const std::string small = to_lower(name);
  return std::ranges::any_of(split_names, [&](std::string_view start) { return small.starts_with(start); });
}

Error refuse_no_images(const std::string& directory) {
  const std::size_t directories = list_subdirectories(directory).size();
  return {ErrorKind::request,
          {directories == 0
               ? "no images found: there are no class directories"
               : fmt::format("no images found: none of the {} class directories has any", directories),
           printable(directory), "ls " + quote_shell(directory)}};
}

// A class of the test images only.
Error refuse_class(const std::string& name, const std::string& directory, const ClassDirectories& training) {
  const std::string there = join_path(training.path, name);
  if (is_directory(there)) {
    return {ErrorKind::request,
            {fmt::format("the class \"{}\" has test images in {}, but no training images", printable(name),
                         printable(join_path(directory, name))),
             printable(there), "ls " + quote_shell(there)}};
  }
  constexpr std::size_t most_named = 10;
  std::vector<std::string> known = training.names;
  for (std::string& one : known) one = printable(one, 40);
  const std::string here = join_path(directory, name);
  return {ErrorKind::request,
          {fmt::format("\"{}\" is not a class of the training images, which have {}: {}", printable(name),
                       training.names.size(), join_first(known, most_named)),
           printable(here),
           fmt::format("mkdir {}   # for training images of this class; or move {} away", quote_shell(there),
                       quote_shell(here))}};
}

}  // namespace

std::vector<std::string> list_subdirectories(const std::string& directory) {
  std::vector<std::string> names;
  for (DirectoryEntry& entry : list_entries(directory))
    if (entry.is_directory) names.push_back(std::move(entry.name));
  return names;
}

void FileList::add(std::string_view name, Label label) {
  names_ += name;
  ends_.push_back(names_.size());
  labels_.push_back(label);
}

std::string_view FileList::name(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(names_).substr(begin, ends_[index] - begin);
}

std::string FileList::path(std::size_t index) const {
  const std::string_view own = name(index);
  return own.starts_with('/') || directory_.empty() ? std::string(own)
                                                    : join_path(directory_, std::string(own));
}

std::uint64_t FileList::fingerprint() const {
  std::uint64_t hash = hash_bytes(std::as_bytes(std::span(names_.data(), names_.size())));
  hash = hash_bytes(std::as_bytes(std::span(ends_)), hash);
  return hash_bytes(std::as_bytes(std::span(labels_)), hash);
}

FileList FileList::part(double test_fraction, bool test) const {
  FileList kept(directory_);
  kept.classes = classes;
  std::vector<bool> seen(largest_label + 1), is_kept(largest_label + 1);
  for (std::size_t i = 0; i < count(); ++i) {
    const std::string_view own = name(i);
    const std::uint64_t hash = hash_bytes(std::as_bytes(std::span(own.data(), own.size())));
    const bool is_test = std::ldexp(static_cast<double>(hash >> 11U), -53) < test_fraction;
    seen[label(i)] = true;
    if (is_test != test) continue;
    is_kept[label(i)] = true;
    kept.add(own, label(i));
  }
  for (std::size_t one = 0; one < seen.size(); ++one) {
    if (test || !seen[one] || is_kept[one]) continue;
    const std::string named = one < classes.names.size() ? classes.names[one] : std::to_string(one);
    throw Error(ErrorKind::request,
                {fmt::format("--val-fraction {} leaves no training image of the class \"{}\"", test_fraction,
                             printable(named, 80)),
                 printable(directory_), "a smaller --val-fraction, or more images of the class"});
  }
  if (kept.count() == 0)
    throw Error(ErrorKind::request,
                {fmt::format("--val-fraction {} leaves no test image of {}", test_fraction, count()),
                 printable(directory_), "a larger --val-fraction, or --test-data PATH"});
  return kept;
}

FileList parse_file_list(std::string_view text, const std::string& name, const std::string& directory) {
  FileList list(directory);
  std::vector<Message> errors;
  std::size_t number = 0;
  while (!text.empty() && errors.size() < most_list_errors) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const std::size_t blank = line.find_last_of(" \t");
    const auto label = blank == std::string_view::npos
                           ? std::nullopt
                           : parse_unsigned(line.substr(blank + 1), largest_label);
    if (label) {
      list.add(trim(line.substr(0, blank)), static_cast<Label>(*label));
    } else {
      errors.push_back({fmt::format("\"{}\" does not end with a blank and a class of 0 to {}",
                                    printable(line, 60), largest_label),
                        fmt::format("{}:{}", printable(name), number), "a line like: cats/1.jpg 3"});
    }
  }
  if (list.count() == 0 && errors.empty())
    errors.push_back({"the list names no images", printable(name), "a line like: cats/1.jpg 3"});
  if (!errors.empty()) throw join_errors(errors);
  return list;
}

std::vector<std::string> find_class_directories(const std::string& directory) {
  std::vector<std::string> classes = list_subdirectories(directory);
  std::erase_if(classes, [&](const std::string& name) { return !holds_images(join_path(directory, name)); });
  return classes;
}

bool is_class_root(const std::string& directory) {
  const std::vector<std::string> names = list_subdirectories(directory);
  const auto place = [&](const std::string& name) { return join_path(directory, name); };
  if (std::ranges::any_of(names, [&](const std::string& n) { return holds_images_itself(place(n)); }))
    return true;
  return std::ranges::none_of(names, is_named_as_split) &&
         std::ranges::any_of(names, [&](const std::string& name) { return holds_images(place(name)); });
}

FileList scan_class_directories(const std::string& directory, const ClassDirectories& training) {
  FileList list(directory);
  const std::vector<std::string> found = find_class_directories(directory);
  if (found.empty()) throw refuse_no_images(directory);
  list.classes = training.names.empty() ? ClassDirectories{directory, found} : training;
  const std::vector<std::string>& names = list.classes.names;
  if (names.size() > largest_label) {
    throw Error(ErrorKind::request,
                {fmt::format("{} directories with images; at most {} classes are supported", names.size(),
                             largest_label),
                 printable(list.classes.path), "ls " + quote_shell(list.classes.path)});
  }
  for (const std::string& name : found) {
    const auto at = std::lower_bound(names.begin(), names.end(), name);
    if (at == names.end() || *at != name) throw refuse_class(name, directory, training);
    for (const std::string& file : list_files_below(join_path(directory, name))) {
      if (has_image_name(base_name(file)))
        list.add(name + "/" + file, static_cast<Label>(at - names.begin()));
    }
  }
  return list;
}

std::vector<std::string> read_class_names(const std::string& directory) {
  std::vector<std::string> names;
  std::ifstream file(join_path(directory, class_names_file));
  for (std::string line; std::getline(file, line);) {
    if (trim(line).empty()) continue;
    names.emplace_back(trim(line));
    if (names.back().find('/') == std::string::npos) continue;  // checkpoints join the names with it
    const std::string path = join_path(directory, class_names_file);
    throw Error(ErrorKind::request,
                {fmt::format("the class name \"{}\" has a slash", printable(names.back(), 80)),
                 printable(path), "sed -i 's|/| or |g' " + quote_shell(path)});
  }
  return names;
}

void write_class_names(const std::string& directory, const std::vector<std::string>& names) {
  const std::string path = join_path(directory, class_names_file);
  std::ofstream file(path);
  for (const std::string& name : names) file << name << '\n';
  errno = 0;
  file.close();
  if (!file)
    throw Error(ErrorKind::request,
                {"the names of the classes cannot be written", printable(path), write_remedy(errno, path)});
}

}  // namespace ddlrun::runtime
