// SPDX-License-Identifier: MIT
// The safetensors layout: eight bytes of length, a JSON header, then the tensors' bytes without gaps. Written
// with checksums of every tensor and of the header in the metadata; read strictly, for a file may come from
// anywhere.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// What is written: float32 only.
struct Tensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::span<const float> values;
};

using Metadata = std::map<std::string, std::string>;

// Where a tensor's bytes are, counted from the end of the header.
struct TensorEntry {
  std::string name;
  std::string type;  // "F32", ...
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<TensorEntry> tensors;  // in the order of their bytes
  std::uint64_t data_start = 0;      // in the file; a multiple of 8 in files of ours
};

constexpr std::uint64_t max_header_bytes = 100'000'000;  // the format's own limit
constexpr std::size_t length_bytes = 8;

// All that stands before the values, which follow in the order of `tensors`. Adds "crc32.NAME" for each
// tensor and "crc32" for the header itself to the metadata.
std::string render_safetensors_header(const Metadata& metadata, std::span<const Tensor> tensors);

// From the first eight bytes to the header's length. Throws Error(request), as all below, where `file` is the
// place.
std::uint64_t parse_header_length(std::string_view start, std::uint64_t file_bytes, const std::string& file);
// `header`: the eight bytes and the header. Every number is checked against the file's size; a name twice,
// unknown types and keys, gaps and overlaps are refused.
SafetensorsHeader parse_safetensors_header(std::string_view header, std::uint64_t file_bytes,
                                           const std::string& file);

// A file that cannot be trusted.
Error damaged_file(const std::string& file, std::string what);

// zlib's CRC-32: finds every single flipped bit and every burst of up to 32.
class Crc32 {
 public:
  void add(std::span<const std::byte> bytes);
  std::string text() const;  // eight hexadecimal digits

 private:
  std::uint32_t sum_ = 0;
};

// The header's own checksum stands in the header, so it is taken with this in its place.
constexpr std::string_view header_checksum_placeholder = "00000000";
std::string seal_header(std::string header);

// Of files that render_safetensors_header() began.
void check_header_checksum(std::string_view header, const std::string& file);
void check_tensor_checksum(const SafetensorsHeader& header, const TensorEntry& place, const Crc32& sum,
                           const std::string& file);

}  // namespace ddlrun::runtime
