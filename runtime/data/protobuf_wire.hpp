// SPDX-License-Identifier: MIT
// Reader and writer of the protocol buffer wire format, sufficient for Caffe's two record types (datum.hpp).
// Input is untrusted: reading stops at the first invalid byte and never passes the end.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace ddlrun::runtime {

using ProtobufBytes = std::span<const std::uint8_t>;

struct ProtobufField {
  std::uint32_t number = 0;
  std::uint32_t type = 0;   // 0 varint, 1 eight bytes, 2 bytes with a length, 5 four bytes
  std::uint64_t value = 0;  // types 0, 1, 5
  ProtobufBytes bytes;      // type 2
};

class ProtobufReader {
 public:
  explicit ProtobufReader(ProtobufBytes bytes) : rest_(bytes) {}

  // Empty at the end and after invalid input; then damaged().
  std::optional<ProtobufField> next() {
    if (rest_.empty() || damaged_) return std::nullopt;
    const auto tag = varint();
    ProtobufField field{static_cast<std::uint32_t>(tag >> 3U), static_cast<std::uint32_t>(tag & 7U), 0, {}};
    if (tag > UINT32_MAX || field.number == 0) damaged_ = true;
    switch (field.type) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = fixed(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.value = fixed(4);
        break;
      default:  // groups are older than Caffe
        damaged_ = true;
    }
    if (damaged_) return std::nullopt;
    return field;
  }
  bool damaged() const { return damaged_; }
  bool at_end() const { return rest_.empty(); }

  // For packed numbers.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (rest_.empty()) break;
      const std::uint8_t byte = rest_.front();
      rest_ = rest_.subspan(1);
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    damaged_ = true;
    return 0;
  }

 private:
  ProtobufBytes take(std::uint64_t count) {
    if (count > rest_.size()) {
      damaged_ = true;
      return {};
    }
    const ProtobufBytes taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(static_cast<std::size_t>(count));
    return taken;
  }
  std::uint64_t fixed(std::size_t size) {  // little endian
    const ProtobufBytes bytes = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i) value = (value << 8U) | bytes[i - 1];
    return value;
  }

  ProtobufBytes rest_;
  bool damaged_ = false;
};

inline void write_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) out.push_back(static_cast<std::uint8_t>(value | 0x80U));
  out.push_back(static_cast<std::uint8_t>(value));
}

// Field `number` of type 0.
inline void write_number(std::vector<std::uint8_t>& out, std::uint32_t number, std::uint64_t value) {
  write_varint(out, std::uint64_t{number} << 3U);
  write_varint(out, value);
}

// Field `number` of type 2.
inline void write_bytes(std::vector<std::uint8_t>& out, std::uint32_t number, ProtobufBytes bytes) {
  write_varint(out, (std::uint64_t{number} << 3U) | 2U);
  write_varint(out, bytes.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace ddlrun::runtime
