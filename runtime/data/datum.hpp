// SPDX-License-Identifier: MIT
// Caffe's records: Datum (an image in an LMDB) and BlobProto (a mean image in a .binaryproto). Pure parsers
// of untrusted bytes; field numbers from Caffe's caffe.proto.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

struct Datum {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::span<const std::uint8_t> data;  // a view into the record: planes, or a whole JPEG or PNG
  std::vector<float> float_data;       // instead of `data`
  std::int64_t label = 0;
  bool encoded = false;
};

// `name`: the key, for messages. Throws Error(request) if it is not a Datum or its sizes do not match its
// data.
Datum parse_datum(std::span<const std::uint8_t> record, std::string_view name);
// The label as a class. Throws Error(request) unless it is 0 to 65535.
Label datum_class(const Datum& datum, std::string_view name);
// Encodes planes of bytes as Caffe's convert_mnist_data and convert_imageset do.
std::vector<std::uint8_t> render_datum(const Shape& shape, std::span<const std::uint8_t> pixels, Label label);

struct MeanImage {
  Shape shape;
  std::vector<float> values;
};
MeanImage parse_mean_image(std::span<const std::uint8_t> file, std::string_view name);

}  // namespace ddlrun::runtime
