// SPDX-License-Identifier: MIT
#include "runtime/app/command_line.hpp"

#include "runtime/app/image_choice.hpp"

#include <cstdlib>
#include <string_view>

namespace ddlrun::runtime {

CommandLine read_command_line(const std::vector<std::string>& args, TypedAt typed) {
  CommandLine line;
  line.caffe = read_caffe_command(args);
  line.options = parse_train_options(line.caffe.line.args, typed);
  TrainOptions& options = line.options;
  if (const auto root = find_list_root(line.caffe, options.data)) options.images.root = *root;
  // Horovod's wish for the same file; DYNAMIC is its word for another interface.
  const char* timeline = std::getenv("HOROVOD_TIMELINE");  // NOLINT(concurrency-mt-unsafe): no thread yet
  if (!line.caffe.run.net) choose_image_options(options);
  if (options.timeline.empty() && timeline != nullptr && std::string_view(timeline) != "DYNAMIC")
    options.timeline = timeline;
  return line;
}

}  // namespace ddlrun::runtime
