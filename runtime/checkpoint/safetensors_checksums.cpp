// SPDX-License-Identifier: MIT
// Checksums of safetensors files. The header's own stands inside the header, so it is taken with zeros in its
// place.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/checkpoint/safetensors.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::string_view sum_key = R"("crc32":")";

// npos if the key is not there exactly once, with room behind it.
std::size_t find_sum(std::string_view header) {
  const std::size_t key = header.find(sum_key);
  if (key == std::string_view::npos || header.find(sum_key, key + 1) != std::string_view::npos)
    return std::string_view::npos;
  const std::size_t at = key + sum_key.size();
  return at + header_checksum_placeholder.size() <= header.size() ? at : std::string_view::npos;
}

std::string sum_of(std::string_view text) {
  Crc32 sum;
  sum.add(std::as_bytes(std::span(text)));
  return sum.text();
}

}  // namespace

Error damaged_file(const std::string& file, std::string what) {
  return {ErrorKind::request,
          {std::move(what), printable(file), "--resume DIR   # takes the newest intact checkpoint"}};
}

void Crc32::add(std::span<const std::byte> bytes) {
  sum_ =
      static_cast<std::uint32_t>(crc32_z(sum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string Crc32::text() const { return fmt::format("{:08x}", sum_); }

std::string seal_header(std::string header) {
  const std::size_t at = find_sum(header);
  const std::string sum = sum_of(header);
  return at == std::string::npos ? header : header.replace(at, sum.size(), sum);
}

void check_header_checksum(std::string_view header, const std::string& file) {
  const std::size_t at = find_sum(header);
  if (at == std::string_view::npos) throw damaged_file(file, "the header has no checksum of its own");
  std::string plain(header);
  const std::string stored = plain.substr(at, header_checksum_placeholder.size());
  plain.replace(at, header_checksum_placeholder.size(), header_checksum_placeholder);
  const std::string real = sum_of(plain);
  if (real == stored) return;
  throw damaged_file(file, fmt::format("the header is damaged: its checksum is {}, but it should be {}", real,
                                       printable(stored)));
}

void check_tensor_checksum(const SafetensorsHeader& header, const TensorEntry& place, const Crc32& sum,
                           const std::string& file) {
  const auto stored = header.metadata.find("crc32." + place.name);
  if (stored == header.metadata.end())
    throw damaged_file(file, fmt::format("the tensor '{}' has no checksum", printable(place.name)));
  const std::string real = sum.text();
  if (real == stored->second) return;
  throw damaged_file(file,
                     fmt::format("the tensor '{}' is damaged: its checksum is {}, but the header has {}",
                                 printable(place.name), real, printable(stored->second)));
}

}  // namespace ddlrun::runtime
