// SPDX-License-Identifier: MIT
// The safetensors format: eight bytes of header length, a JSON header, then the tensors without gaps. Written
// with checksums of every tensor and of the header in the metadata; parsed strictly, because a file may come
// from anywhere.
#pragma once

#include "base/text/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// A tensor to write: float32 only.
struct Tensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::span<const float> values;
};

using Metadata = std::map<std::string, std::string>;

// Position of a tensor's bytes, relative to the end of the header.
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

// Length and header; the values follow in the order of `tensors`. Adds "crc32.NAME" for each tensor and
// "crc32" for the header itself to the metadata.
std::string render_safetensors_header(const Metadata& metadata, std::span<const Tensor> tensors);

// Parses the first eight bytes. Throws Error(request), as all functions below, with `file` as the location.
std::uint64_t parse_header_length(std::string_view start, std::uint64_t file_bytes, const std::string& file);
// `header`: the eight bytes and the header. Checks every number against the file's size; rejects duplicate
// names, unknown types and keys, gaps and overlaps.
SafetensorsHeader parse_safetensors_header(std::string_view header, std::uint64_t file_bytes,
                                           const std::string& file);

// Builds the error for a damaged file.
Error damaged_file(const std::string& file, std::string what);

// zlib's CRC-32: detects every single flipped bit and every burst of up to 32 bits.
class Crc32 {
 public:
  void add(std::span<const std::byte> bytes);
  std::string text() const;  // eight hexadecimal digits

 private:
  std::uint32_t sum_ = 0;
};

// The header contains its own checksum, which is computed with this text in its place.
constexpr std::string_view header_checksum_placeholder = "00000000";
std::string seal_header(std::string header);

// For files written by render_safetensors_header().
void check_header_checksum(std::string_view header, const std::string& file);
void check_tensor_checksum(const SafetensorsHeader& header, const TensorEntry& place, const Crc32& sum,
                           const std::string& file);

}  // namespace ddlrun::runtime
