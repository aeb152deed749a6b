// SPDX-License-Identifier: MIT
// Random images for measurements without data: synthetic:3x224x224x1000:10000 are 10,000 images of 3x224x224
// in 1,000 classes. Images and labels are unrelated, so nothing can be learnt.
#pragma once

#include "runtime/data/image_source.hpp"

#include <string>

namespace ddlrun::runtime {

bool is_synthetic(const std::string& place);

// One part. Throws Error(usage). As many as a hundredth of the images are the test, at least 64 where there
// are so many. At most 64 different ones are kept.
ImageSet generate_synthetic(const std::string& place, bool test);
// The requested number of classes, even if no image has the last one.
int synthetic_classes(const std::string& place);

}  // namespace ddlrun::runtime
