// SPDX-License-Identifier: MIT
#include "runtime/data/datum.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/data/protobuf_wire.hpp"

#include <fmt/format.h>

#include <bit>

namespace ddlrun::runtime {
namespace {

constexpr std::int64_t longest_datum_side = 65'535;

Error refuse_record(std::string_view name, std::string what, std::string hint) {
  return {ErrorKind::request, {std::move(what), printable(name), std::move(hint)}};
}

constexpr const char* try_convert = "ddl-train convert-data IMAGES NEW.lmdb   # writes a valid one";

// One that came alone, or many packed into one field.
void append_floats(const ProtobufField& field, std::vector<float>& out) {
  if (field.type == 5) out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
  for (std::size_t at = 0; field.type == 2 && at + 4 <= field.bytes.size(); at += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 4; i > 0; --i) word = (word << 8U) | field.bytes[at + i - 1];
    out.push_back(std::bit_cast<float>(word));
  }
}

void append_doubles(const ProtobufField& field, std::vector<float>& out) {
  if (field.type == 1) out.push_back(static_cast<float>(std::bit_cast<double>(field.value)));
  for (std::size_t at = 0; field.type == 2 && at + 8 <= field.bytes.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 8; i > 0; --i) word = (word << 8U) | field.bytes[at + i - 1];
    out.push_back(static_cast<float>(std::bit_cast<double>(word)));
  }
}

// The product of sides that are sane, else 0.
std::uint64_t count_values(std::int64_t channels, std::int64_t height, std::int64_t width) {
  for (const std::int64_t side : {channels, height, width}) {
    if (side < 1 || side > longest_datum_side) return 0;
  }
  return static_cast<std::uint64_t>(channels * height) * static_cast<std::uint64_t>(width);
}

void check_datum(const Datum& datum, std::string_view name) {
  if (datum.encoded) {
    if (datum.data.empty()) throw refuse_record(name, "the Datum is encoded, but has no data", try_convert);
    return;
  }
  const std::uint64_t needed = count_values(datum.channels, datum.height, datum.width);
  const std::size_t there = datum.data.empty() ? datum.float_data.size() : datum.data.size();
  if (needed != 0 && needed == there) return;
  throw refuse_record(name,
                      fmt::format("the Datum declares {}x{}x{}, but has {} values", datum.channels,
                                  datum.height, datum.width, there),
                      try_convert);
}

}  // namespace

Datum parse_datum(std::span<const std::uint8_t> record, std::string_view name) {
  Datum datum;
  ProtobufReader reader(record);
  while (const auto field = reader.next()) {
    const auto number = static_cast<std::int64_t>(field->value);
    const bool varint = field->type == 0;
    switch (field->number) {
      case 1:
        if (varint) datum.channels = number;
        break;
      case 2:
        if (varint) datum.height = number;
        break;
      case 3:
        if (varint) datum.width = number;
        break;
      case 4:
        if (field->type == 2) datum.data = field->bytes;
        break;
      case 5:
        if (varint) datum.label = number;
        break;
      case 6:
        append_floats(*field, datum.float_data);
        break;
      case 7:
        if (varint) datum.encoded = number != 0;
        break;
      default:
        break;
    }
  }
  if (reader.damaged())
    throw refuse_record(name, fmt::format("these {} bytes are not a Caffe Datum", record.size()),
                        try_convert);
  check_datum(datum, name);
  return datum;
}

Label datum_class(const Datum& datum, std::string_view name) {
  if (datum.label >= 0 && datum.label <= UINT16_MAX) return static_cast<Label>(datum.label);
  throw refuse_record(name,
                      fmt::format("the label {} is invalid: classes are 0 to {}", datum.label, UINT16_MAX),
                      try_convert);
}

std::vector<std::uint8_t> render_datum(const Shape& shape, std::span<const std::uint8_t> pixels,
                                       Label label) {
  std::vector<std::uint8_t> out;
  out.reserve(pixels.size() + 24);
  write_number(out, 1, static_cast<std::uint64_t>(shape.channels));
  write_number(out, 2, static_cast<std::uint64_t>(shape.height));
  write_number(out, 3, static_cast<std::uint64_t>(shape.width));
  write_bytes(out, 4, pixels);
  write_number(out, 5, label);
  return out;
}

// BlobProto: num 1, channels 2, height 3, width 4, data 5, shape 7 {dim 1}, double_data 8.
MeanImage parse_mean_image(std::span<const std::uint8_t> file, std::string_view name) {
  MeanImage mean;
  std::vector<std::int64_t> sides{1, 0, 0, 0};
  ProtobufReader reader(file);
  while (const auto field = reader.next()) {
    if (field->number >= 1 && field->number <= 4 && field->type == 0)
      sides[field->number - 1] = static_cast<std::int64_t>(field->value);
    if (field->number == 5) append_floats(*field, mean.values);
    if (field->number == 8) append_doubles(*field, mean.values);
    if (field->number == 7 && field->type == 2) {
      sides.clear();
      ProtobufReader shape(field->bytes);
      while (const auto dim = shape.next()) {
        if (dim->type == 0) sides.push_back(static_cast<std::int64_t>(dim->value));
        ProtobufReader packed(dim->bytes);
        while (!packed.at_end() && !packed.damaged())
          sides.push_back(static_cast<std::int64_t>(packed.varint()));
      }
      while (sides.size() < 4) sides.insert(sides.begin(), 1);
    }
  }
  const char* hint = "ddl-train --mean 104,117,123   # or the file of Caffe's compute_image_mean";
  if (reader.damaged() || sides.size() != 4 || sides[0] != 1)
    throw refuse_record(name, "this is not a Caffe mean image (a BlobProto of one image)", hint);
  if (count_values(sides[1], sides[2], sides[3]) != mean.values.size() || mean.values.empty()) {
    throw refuse_record(name,
                        fmt::format("the mean image declares {}x{}x{}, but has {} values", sides[1], sides[2],
                                    sides[3], mean.values.size()),
                        hint);
  }
  mean.shape = {static_cast<int>(sides[1]), static_cast<int>(sides[2]), static_cast<int>(sides[3])};
  return mean;
}

}  // namespace ddlrun::runtime
