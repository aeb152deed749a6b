// SPDX-License-Identifier: MIT
// Files of images in directories: their formats by name, and their order.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// ".jpg" of "IMG_1.JPG", "" of "notes".
std::string ending_of(std::string_view name);
// Ends as an image that ddl-train reads: .jpg, .jpeg, .png, .ppm, .pgm or .pnm, in small or capital letters.
bool has_image_name(std::string_view name);
// Ends as an image of a format that it does not read, such as .webp.
bool has_foreign_image_name(std::string_view name);

// "mogrify -format png cats/*.webp": what makes images of `foreign`, a name or a pattern, that are read.
std::string convert_images_hint(const std::string& foreign);
// The same for all of `files` that lie in the directory of the first one; endings as they are written there.
std::string convert_files_hint(const std::vector<std::string>& files);

// Visits each file below `directory` by its name there ("1.jpg", "monday/2.jpg") until `visit` returns false.
// Like torchvision's ImageFolder at any depth and through symbolic links; unlike it without hidden names.
// Throws Error(request) for what cannot be read. No file where `directory` does not exist.
void visit_files_below(const std::string& directory, const std::function<bool(const std::string&)>& visit);

// The same names in ImageFolder's order: by directory, then by name.
std::vector<std::string> list_files_below(const std::string& directory);

}  // namespace ddlrun::runtime
