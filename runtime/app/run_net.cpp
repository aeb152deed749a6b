// SPDX-License-Identifier: MIT
#include "runtime/app/run_net.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/models/net_files.hpp"

namespace ddlrun::runtime {

Net load_run_net(const TrainOptions& options, const CaffeCommand& caffe, const std::string& data,
                 bool encoded, const Shape& input, int classes) {
  if (caffe.run.net) return plan_caffe_net(*caffe.run.net, input, classes);
  if (is_net_file(options.net)) return load_net(options.net, input, classes);
  try {
    return load_net(options.net, input, classes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::request) throw;
    // The layers of a built-in net are right, so it is the images that do not fit them.
    throw Error(error.kind(), {error.message().what, printable(data),
                               encoded ? "--net cifar-quick --resize 36 --crop 32" : "--net mlp"});
  }
}

}  // namespace ddlrun::runtime
