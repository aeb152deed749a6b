// SPDX-License-Identifier: MIT
// Options that the user left open for photos of many sizes: a size and a net for it.
#pragma once

#include "runtime/app/train_options.hpp"

namespace ddlrun::runtime {

// Where --data has a directory of classes, or is it, whose images differ in size, and neither --resize nor
// --crop is given: sets both for the net, and the net where it is not given. `options.choice` says what was
// chosen and why. Reads the headers of some images. Throws Error(request) for an unreadable one.
void choose_image_options(TrainOptions& options);

}  // namespace ddlrun::runtime
