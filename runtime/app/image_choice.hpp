// SPDX-License-Identifier: MIT
// Options that the user left open for photos: a size and a net for it.
#pragma once

#include "runtime/app/train_options.hpp"

namespace ddlrun::runtime {

// Where --data (or $DDLRUN_DATA) has, or is, a directory of classes or a list of files: sets --resize and
// --crop for the net where neither is given, and the net where it is not given. Grey images of 28x28 or
// 32x32, which lenet5 reads, stay as they are. `options.choice` says what was chosen and why. Reads the
// headers of the images. Throws Error(request) for an unreadable one.
void choose_image_options(TrainOptions& options);

}  // namespace ddlrun::runtime
