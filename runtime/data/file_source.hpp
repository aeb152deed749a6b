// SPDX-License-Identifier: MIT
// Images in files, decoded on demand; and a cache for sources that fit into memory.
#pragma once

#include "base/text/error.hpp"
#include "runtime/data/data_request.hpp"
#include "runtime/data/file_list.hpp"
#include "runtime/data/image_source.hpp"

#include <vector>

namespace ddlrun::runtime {

// How files are decoded: channels and size as requested, else as in the first images.
struct DecodePlan {
  int channels = 3;
  Sides resize;  // 0: as they are
  Shape shape;   // of each image
};
// `first`: shape of the first image; `grey`: all inspected images are grey.
DecodePlan plan_decode(const DataRequest& request, const Shape& first, bool grey);
// Throws Error(request) if the image is damaged or, without resize, has another size.
void decode_into(const DecodePlan& plan, std::span<const std::uint8_t> file, std::string_view name,
                 std::span<std::uint8_t> out);

// Height and width of the smallest and the largest image, by height times width; read from the headers of all
// files, or of 2,000 of a longer list.
struct ImageSizes {
  Sides least, most;
  bool grey = true;         // all of them
  std::size_t headers = 0;  // read
};
ImageSizes survey_sizes(const FileList& list);

// What is wrong with each image of the list that cannot be read and decoded.
std::vector<Message> find_damaged(const FileList& list);

SourcePtr make_file_source(FileList list, const DataRequest& request);

// A copy in memory if it takes at most `limit` bytes, else `source`.
SourcePtr cache_if_small(SourcePtr source, std::size_t limit);

}  // namespace ddlrun::runtime
