// SPDX-License-Identifier: MIT
// Checksums of safetensors files. The header's own stands inside the header, so it is taken with zeros in its
// place.
#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/checkpoint/safetensors.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::string_view sum_key = R"("crc32":")";

// npos if the key is not there exactly once, with room behind it.
std::size_t find_sum(std::string_view head) {
  const std::size_t key = head.find(sum_key);
  if (key == std::string_view::npos || head.find(sum_key, key + 1) != std::string_view::npos)
    return std::string_view::npos;
  const std::size_t at = key + sum_key.size();
  return at + head_sum_blank.size() <= head.size() ? at : std::string_view::npos;
}

std::string sum_of(std::string_view text) {
  Crc32 sum;
  sum.add(std::as_bytes(std::span(text)));
  return sum.text();
}

}  // namespace

Error damaged_file(const std::string& file, std::string what) {
  return {ErrorKind::request,
          {std::move(what), printable(file), "--resume DIR   # takes the newest checkpoint that is whole"}};
}

void Crc32::add(std::span<const std::byte> bytes) {
  sum_ =
      static_cast<std::uint32_t>(crc32_z(sum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string Crc32::text() const { return fmt::format("{:08x}", sum_); }

std::string seal_head(std::string head) {
  const std::size_t at = find_sum(head);
  const std::string sum = sum_of(head);
  return at == std::string::npos ? head : head.replace(at, sum.size(), sum);
}

void check_head_sum(std::string_view head, const std::string& file) {
  const std::size_t at = find_sum(head);
  if (at == std::string_view::npos) throw damaged_file(file, "the header has no checksum of its own");
  std::string plain(head);
  const std::string stored = plain.substr(at, head_sum_blank.size());
  plain.replace(at, head_sum_blank.size(), head_sum_blank);
  const std::string real = sum_of(plain);
  if (real == stored) return;
  throw damaged_file(file, fmt::format("the header is damaged: its checksum is {}, and {} stands there", real,
                                       printable(stored)));
}

void check_tensor_sum(const SafetensorsHead& head, const TensorPlace& place, const Crc32& sum,
                      const std::string& file) {
  const auto stored = head.metadata.find("crc32." + place.name);
  if (stored == head.metadata.end())
    throw damaged_file(file, fmt::format("the tensor '{}' has no checksum", printable(place.name)));
  const std::string real = sum.text();
  if (real == stored->second) return;
  throw damaged_file(file,
                     fmt::format("the tensor '{}' is damaged: its checksum is {}, and the header says {}",
                                 printable(place.name), real, printable(stored->second)));
}

}  // namespace ddlrun::runtime
