// SPDX-License-Identifier: MIT
#include "runtime/data/idx.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/gzip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace ddlrun::runtime {
namespace {

constexpr std::uint8_t unsigned_byte = 0x08;

std::string try_look(std::string_view name) { return "head -c 16 " + quote_shell(name) + " | xxd"; }

std::uint32_t big_endian(std::span<const std::uint8_t> four) {
  return (std::uint32_t{four[0]} << 24U) | (std::uint32_t{four[1]} << 16U) | (std::uint32_t{four[2]} << 8U) |
         std::uint32_t{four[3]};
}

std::string type_name(std::uint8_t code) {
  switch (code) {
    case 0x08:
      return "unsigned byte";
    case 0x09:
      return "signed byte";
    case 0x0B:
      return "16-bit integer";
    case 0x0C:
      return "32-bit integer";
    case 0x0D:
      return "float";
    case 0x0E:
      return "double";
    default:
      return "unknown";
  }
}

void check_magic(std::span<const std::uint8_t> bytes, std::size_t dimensions, std::string_view name) {
  if (bytes.size() < 4) {
    throw refuse_file(
        name, fmt::format("an IDX file starts with 4 magic bytes, but this one has {} bytes", bytes.size()),
        "ls -l " + quote_shell(name));
  }
  if (bytes[0] != 0 || bytes[1] != 0) {
    throw refuse_file(name,
                      fmt::format("an IDX file starts with bytes 00 00, but this one with {:02x} {:02x}",
                                  bytes[0], bytes[1]),
                      try_look(name));
  }
  if (bytes[2] != unsigned_byte) {
    throw refuse_file(name,
                      fmt::format("elements must be of IDX type 0x08 (unsigned byte), but are 0x{:02x} ({})",
                                  bytes[2], type_name(bytes[2])),
                      try_look(name));
  }
  if (bytes[3] != dimensions) {
    throw refuse_file(name,
                      fmt::format("{} need {} IDX dimension(s), but this file has {}",
                                  dimensions == 1 ? "labels" : "images", dimensions, bytes[3]),
                      try_look(name));
  }
}

// Nothing when the product does not fit into 64 bits.
std::optional<std::uint64_t> product(std::span<const std::uint32_t> dims) {
  std::uint64_t result = 1;
  for (const std::uint32_t dim : dims) {
    if (__builtin_mul_overflow(result, std::uint64_t{dim}, &result)) return std::nullopt;
  }
  return result;
}

std::string render_dims(std::span<const std::uint32_t> dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

std::vector<std::uint32_t> read_dims(std::span<const std::uint8_t> bytes, std::size_t dimensions) {
  std::vector<std::uint32_t> dims;
  for (std::size_t d = 0; d < dimensions; ++d) dims.push_back(big_endian(bytes.subspan(4 + 4 * d, 4)));
  return dims;
}

std::size_t header_size(std::size_t dimensions) { return 4 + 4 * dimensions; }

}  // namespace

std::uint64_t idx_size(std::span<const std::uint8_t> head, std::size_t dimensions, std::string_view name) {
  const std::size_t header = header_size(dimensions);
  if (head.size() < header) return 0;
  check_magic(head, dimensions, name);
  const std::vector<std::uint32_t> dims = read_dims(head, dimensions);
  std::uint64_t size = 0;
  const std::optional<std::uint64_t> elements = product(dims);
  if (elements && !__builtin_add_overflow(*elements, std::uint64_t{header}, &size)) return size;
  throw refuse_file(
      name, fmt::format("the header declares {} elements, more than 64 bits can count", render_dims(dims)),
      try_look(name));
}

IdxArray parse_idx(std::span<const std::uint8_t> bytes, std::size_t dimensions, std::string_view name) {
  check_magic(bytes, dimensions, name);
  const std::size_t header = header_size(dimensions);
  if (bytes.size() < header) {
    throw refuse_file(name,
                      fmt::format("the header needs {} bytes, but the file has {}", header, bytes.size()),
                      "ls -l " + quote_shell(name));
  }
  const std::uint64_t expected = idx_size(bytes, dimensions, name) - header;
  const IdxArray array{read_dims(bytes, dimensions), bytes.subspan(header)};
  if (expected != array.data.size()) {
    throw refuse_file(name,
                      fmt::format("the header declares {} = {} bytes, but {} follow it ({})",
                                  render_dims(array.dims), expected, array.data.size(),
                                  expected > array.data.size() ? "cut short?" : "extra bytes at the end"),
                      "sha256sum " + quote_shell(name) + "   # and compare it with the original");
  }
  return array;
}

std::vector<std::uint8_t> render_idx(std::span<const std::uint32_t> dims,
                                     std::span<const std::uint8_t> data) {
  std::vector<std::uint8_t> bytes{0, 0, unsigned_byte, static_cast<std::uint8_t>(dims.size())};
  for (const std::uint32_t dim : dims) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes.push_back(static_cast<std::uint8_t>(dim >> shift));
  }
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

}  // namespace ddlrun::runtime
