// SPDX-License-Identifier: MIT
// Images in files, decoded when they are asked for; and how a source that is small enough is kept in memory.
#pragma once

#include "runtime/data/data_request.hpp"
#include "runtime/data/file_list.hpp"
#include "runtime/data/image_source.hpp"

namespace ddlrun::runtime {

// How a image becomes an image: the request's channels and size, with what the first images said where it
// says nothing.
struct DecodePlan {
  int channels = 3;
  Sides resize;  // 0: as they are
  Shape shape;   // of each image
};
// From one head of a file; `grey`: all that were looked at are.
DecodePlan plan_decode(const DataRequest& request, const Shape& first, bool grey);
// Throws Error(request) if the image is damaged or, without a resize, of another size.
void decode_into(const DecodePlan& plan, std::span<const std::uint8_t> file, std::string_view name,
                 std::span<std::uint8_t> out);

SourcePtr make_file_source(FileList list, const DataRequest& request);

// A copy in memory if that takes at most `limit` bytes, else the source itself.
SourcePtr cache_if_small(SourcePtr source, std::size_t limit);

}  // namespace ddlrun::runtime
