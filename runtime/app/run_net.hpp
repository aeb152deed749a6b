// SPDX-License-Identifier: MIT
// The net of a run, for the images that it trains on.
#pragma once

#include "runtime/app/train_options.hpp"
#include "runtime/caffe/caffe_options.hpp"
#include "runtime/models/net.hpp"

#include <string>

namespace ddlrun::runtime {

// `data`: where the images are; `encoded`: in files of their own, so that --resize applies to them. Throws
// Error; that of a built-in net which does not fit the images names them and a command that trains on them.
Net load_run_net(const TrainOptions& options, const CaffeCommand& caffe, const std::string& data,
                 bool encoded, const Shape& input, int classes);

}  // namespace ddlrun::runtime
