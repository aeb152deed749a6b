// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/checkpoint/safetensors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

namespace ddlrun::runtime {
namespace {

using HeaderJson = nlohmann::ordered_json;

constexpr std::string_view metadata_key = "__metadata__";
constexpr std::size_t max_dimensions = 16;

struct ElementType {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<ElementType, 15> element_types{{{"F32", 4},
                                                     {"F64", 8},
                                                     {"F16", 2},
                                                     {"BF16", 2},
                                                     {"I64", 8},
                                                     {"I32", 4},
                                                     {"I16", 2},
                                                     {"I8", 1},
                                                     {"U64", 8},
                                                     {"U32", 4},
                                                     {"U16", 2},
                                                     {"U8", 1},
                                                     {"BOOL", 1},
                                                     {"F8_E4M3", 1},
                                                     {"F8_E5M2", 1}}};

// nlohmann-json keeps the last of two equal keys; here that is a fault. Nothing is nested deeper than three
// levels.
HeaderJson parse_without_duplicates(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> keys;
  const auto look = [&](int depth, HeaderJson::parse_event_t event, HeaderJson& parsed) {
    if (depth > 3) throw damaged_file(file, "the header is nested too deeply");
    if (event == HeaderJson::parse_event_t::object_start) keys.emplace_back();
    if (event == HeaderJson::parse_event_t::object_end) keys.pop_back();
    if (event == HeaderJson::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw damaged_file(file, fmt::format("the header has the name '{}' twice",
                                           printable(parsed.get_ref<const std::string&>())));
    }
    return true;
  };
  try {
    return HeaderJson::parse(text.begin(), text.end(), look);
  } catch (const HeaderJson::exception& error) {
    throw damaged_file(file, fmt::format("the header is not JSON: {}", printable(error.what())));
  }
}

Metadata read_metadata(const HeaderJson& json, const std::string& file) {
  Metadata metadata;
  if (!json.is_object()) throw damaged_file(file, "__metadata__ is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string())
      throw damaged_file(file, fmt::format("the metadata '{}' is not a string", printable(key)));
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

// A list of whole numbers of 64 bits; a float, a sign or a number beyond is refused.
std::vector<std::uint64_t> read_numbers(const HeaderJson& json, const std::string& what,
                                        const std::string& file) {
  const bool numbers =
      json.is_array() && json.size() <= max_dimensions &&
      std::all_of(json.begin(), json.end(), [](const HeaderJson& one) { return one.is_number_unsigned(); });
  if (!numbers) throw damaged_file(file, fmt::format("{} is not a short list of whole numbers", what));
  return json.get<std::vector<std::uint64_t>>();
}

std::optional<std::uint64_t> byte_count(const TensorEntry& place, std::uint64_t element) {
  std::uint64_t count = element;
  for (const std::uint64_t size : place.shape) {
    if (size != 0 && count > std::numeric_limits<std::uint64_t>::max() / size) return std::nullopt;
    count *= size;
  }
  return count;
}

TensorEntry read_tensor(const std::string& name, const HeaderJson& json, const std::string& file) {
  const std::string who = fmt::format("the tensor '{}'", printable(name));
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets") || !json.at("dtype").is_string()) {
    throw damaged_file(file, who + " must have exactly dtype, shape and data_offsets");
  }
  TensorEntry place{name, json.at("dtype").get<std::string>(),
                    read_numbers(json.at("shape"), "the shape of " + who, file), 0, 0};
  const auto offsets = read_numbers(json.at("data_offsets"), "data_offsets of " + who, file);
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    throw damaged_file(file, fmt::format("data_offsets of {} must be a begin and an end", who));
  place.begin = offsets[0];
  place.end = offsets[1];
  const auto type = std::find_if(element_types.begin(), element_types.end(),
                                 [&](const ElementType& one) { return one.name == place.type; });
  if (type == element_types.end())
    throw damaged_file(file, fmt::format("{} has the unknown type '{}'", who, printable(place.type)));
  const auto bytes = byte_count(place, type->bytes);
  if (!bytes || *bytes != place.end - place.begin) {
    throw damaged_file(file,
                       fmt::format("{} has {} bytes, but its shape needs {}", who, place.end - place.begin,
                                   bytes ? std::to_string(*bytes) : "more than 64 bits can count"));
  }
  return place;
}

// The tensors must fill the rest of the file, one behind the other.
void check_layout(const SafetensorsHeader& header, std::uint64_t file_bytes, const std::string& file) {
  std::uint64_t at = 0;
  for (const TensorEntry& place : header.tensors) {
    if (place.begin != at) {
      throw damaged_file(file, fmt::format("the tensor '{}' begins at byte {}, but the one before ends at {}",
                                           printable(place.name), place.begin, at));
    }
    at = place.end;
  }
  const std::uint64_t there = file_bytes - header.data_start;
  if (at != there)
    throw damaged_file(file, fmt::format("the tensors need {} bytes, but {} follow", at, there));
}

}  // namespace

std::string render_safetensors_header(const Metadata& metadata, std::span<const Tensor> tensors) {
  HeaderJson own(metadata);
  HeaderJson json;
  json[std::string(metadata_key)] = nullptr;  // its place is the first
  std::uint64_t at = 0;
  for (const Tensor& tensor : tensors) {
    const std::uint64_t end = at + tensor.values.size_bytes();
    json[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    Crc32 sum;
    sum.add(std::as_bytes(tensor.values));
    own["crc32." + tensor.name] = sum.text();
    at = end;
  }
  own["crc32"] = std::string(header_checksum_placeholder);
  json[std::string(metadata_key)] = std::move(own);
  std::string text = json.dump(-1, ' ', false, HeaderJson::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string header;
  for (std::size_t i = 0; i < length_bytes; ++i) header += static_cast<char>(text.size() >> (8 * i) & 0xffU);
  return seal_header(header + text);
}

std::uint64_t parse_header_length(std::string_view start, std::uint64_t file_bytes, const std::string& file) {
  if (start.size() < length_bytes || file_bytes < length_bytes) {
    throw damaged_file(file,
                       fmt::format("the file has {} bytes; a safetensors file has at least 10", file_bytes));
  }
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8U | static_cast<unsigned char>(start[i]);
  if (length > max_header_bytes || length > file_bytes - length_bytes) {
    throw damaged_file(
        file, fmt::format("the length field declares a header of {} bytes, but at most {} are possible",
                          length, std::min(max_header_bytes, file_bytes - length_bytes)));
  }
  return length;
}

SafetensorsHeader parse_safetensors_header(std::string_view header, std::uint64_t file_bytes,
                                           const std::string& file) {
  const std::uint64_t length = parse_header_length(header, file_bytes, file);
  if (header.size() != length_bytes + length) throw damaged_file(file, "the header is cut short");
  const std::string_view text = header.substr(length_bytes);
  if (!text.starts_with('{')) throw damaged_file(file, "the header does not begin with '{'");
  const HeaderJson json = parse_without_duplicates(text, file);
  SafetensorsHeader result;
  result.data_start = header.size();
  for (const auto& [name, value] : json.items()) {
    if (name == metadata_key) {
      result.metadata = read_metadata(value, file);
    } else {
      result.tensors.push_back(read_tensor(name, value, file));
    }
  }
  std::stable_sort(result.tensors.begin(), result.tensors.end(),
                   [](const TensorEntry& a, const TensorEntry& b) {
                     return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                   });
  check_layout(result, file_bytes, file);
  return result;
}

}  // namespace ddlrun::runtime
