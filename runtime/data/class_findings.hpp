// SPDX-License-Identifier: MIT
// Classes that a training would lose without a word: directories without images that can be read.
#pragma once

#include "base/text/error.hpp"
#include "runtime/data/file_list.hpp"
#include "runtime/data/image_source.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// Warnings about the class directories in `directory`: one without files, and files of an image format that
// is not read, by format and count; one with a single image. `test`: the directory of the test images, "" for
// none; a warning for each class without any there. Throws Error(request) for a training class whose files
// can all not be read.
std::vector<Message> check_class_directories(const std::string& directory, const std::string& test);

// A warning for each class of which the test images have none.
std::vector<Message> find_untested(const ClassDirectories& classes, const ImageSource& tests);

}  // namespace ddlrun::runtime
