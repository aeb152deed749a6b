// SPDX-License-Identifier: MIT
// The layout as the format's description has it, and everything that a strict reader refuses.
#include "runtime/checkpoint/safetensors.hpp"

#include "runtime/core/random.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <array>

namespace ddlrun::runtime {
namespace {

const std::array<float, 6> six_values{0.0F, -1.0F, 1.5F, 3e38F, 1e-40F, -0.0F};

std::string bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::string example_file() {
  const std::span<const float> all(six_values);
  const Tensor tensors[] = {{"conv1.weight", {2, 1, 2}, all.first(4)}, {"conv1.bias", {2}, all.last(2)}};
  return render_safetensors_header({{"step", "812"}, {"net", "a \"b\""}}, tensors) + bytes_of(all);
}

std::string framed(const std::string& header, std::size_t data_bytes) {
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i) & 0xffU);
  return file + header + std::string(data_bytes, 'x');
}

// All that a reader does with a file.
SafetensorsHeader read_whole(const std::string& file, bool with_sums) {
  const std::uint64_t length = parse_header_length(std::string_view(file).substr(0, 8), file.size(), "FILE");
  const std::string_view header = std::string_view(file).substr(0, 8 + length);
  if (with_sums) check_header_checksum(header, "FILE");
  SafetensorsHeader result = parse_safetensors_header(header, file.size(), "FILE");
  for (const TensorEntry& place : result.tensors) {
    if (!with_sums) break;
    Crc32 sum;
    sum.add(std::as_bytes(std::span(file)).subspan(result.data_start + place.begin, place.end - place.begin));
    check_tensor_checksum(result, place, sum, "FILE");
  }
  return result;
}

bool is_refused(const std::string& file) {
  try {
    read_whole(file, true);
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/checkpoint/safetensors");

// namespace

TEST_CASE("safetensors: the bytes that the format's description asks for") {
  const std::string file = example_file();
  const SafetensorsHeader header = read_whole(file, true);
  CHECK(file[8] == '{');
  CHECK(header.data_start % 8 == 0);
  CHECK(file.find(R"("conv1.weight":{"dtype":"F32","shape":[2,1,2],"data_offsets":[0,16]})") !=
        std::string::npos);
  CHECK(file.find(R"("conv1.bias":{"dtype":"F32","shape":[2],"data_offsets":[16,24]})") != std::string::npos);
  CHECK(file.substr(header.data_start) == bytes_of(six_values));
  CHECK(header.metadata.at("net") == "a \"b\"");
  CHECK(header.metadata.at("step") == "812");
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[1].name == "conv1.bias");
}

TEST_CASE("safetensors: CRC-32's published check value") {
  const std::string digits = "123456789";
  Crc32 sum;
  sum.add(std::as_bytes(std::span(digits)).first(4));
  sum.add(std::as_bytes(std::span(digits)).subspan(4));
  CHECK(sum.text() == "cbf43926");
}

TEST_CASE("safetensors: headers of other writers") {
  CHECK(read_whole(framed("{}", 0), false).tensors.empty());
  // Tensors in any order of the header, without metadata, with other types and blanks behind.
  const SafetensorsHeader header =
      read_whole(framed(R"({"b":{"shape":[],"dtype":"BF16","data_offsets":[6,8]},)"
                        R"("a":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]}}   )",
                        8),
                 false);
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[0].name == "a");
  CHECK(header.tensors[1].type == "BF16");
}

TEST_CASE("safetensors: what is refused") {
  const std::string f32 = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  struct Row {
    std::string header;
    std::size_t data_bytes;
    const char* part;
  };
  const Row rows[] = {
      {"", 0, "does not begin with '{'"},
      {" {}", 0, "does not begin with '{'"},
      {"[]", 0, "does not begin with '{'"},
      {"{\"a\":", 0, "not JSON"},
      {"{}x", 0, "not JSON"},
      {"{}", 1, "the tensors need 0 bytes, but 1 follow"},
      {"{\"a\":" + f32 + "}", 3, "the tensors need 4 bytes, but 3 follow"},
      {"{\"a\":" + f32 + ",\"a\":" + f32 + "}", 4, "the name 'a' twice"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", 0, "the name 'k' twice"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4,
       "the name 'dtype' twice"},
      {"{\"a\":" + f32 + ",\"b\":" + f32 + "}", 4, "begins at byte 0, but the one before ends at 4"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "begins at byte 4"},
      {R"({"__metadata__":{"k":1}})", 0, "is not a string"},
      {R"({"__metadata__":[]})", 0, "not an object"},
      {R"({"a":1})", 0, "must have exactly dtype"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "must have exactly dtype"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})", 4, "must have exactly dtype"},
      {R"({"a":{"dtype":4,"shape":[1],"data_offsets":[0,4]}})", 4, "must have exactly dtype"},
      {R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4, "unknown type 'F33'"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "has 4 bytes, but its shape needs 8"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4,
       "more than 64 bits"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "list of whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "list of whole numbers"},
      {R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4, "list of whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,99999999999999999999]}})", 4,
       "list of whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "must be a begin and an end"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}})", 4, "must be a begin and an end"},
      {R"({"a":{"dtype":"F32","shape":[[[[1]]]],"data_offsets":[0,4]}})", 4, "nested too deeply"},
      {"{\"a\xff\":" + f32 + "}", 4, "not JSON"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.header);
    expect_error(ErrorKind::request, row.part,
                 [&] { read_whole(framed(row.header, row.data_bytes), false); });
  }
}

TEST_CASE("safetensors: a length field that cannot be") {
  struct Row {
    std::uint64_t length;
    std::uint64_t file_bytes;
  };
  for (const Row& row : {Row{3, 10}, Row{UINT64_MAX, 100}, Row{max_header_bytes + 1, UINT64_MAX / 2}}) {
    std::string start(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) start[i] = static_cast<char>(row.length >> (8 * i) & 0xffU);
    expect_error(ErrorKind::request, std::to_string(row.length),
                 [&] { parse_header_length(start, row.file_bytes, "FILE"); });
  }
  expect_error(ErrorKind::request, "has 5 bytes", [] { parse_header_length("12345", 5, "FILE"); });
}

TEST_CASE("safetensors: every flipped bit, every lost end and every added byte is found") {
  const std::string file = example_file();
  REQUIRE(!is_refused(file));
  std::size_t passed = 0;
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    passed += is_refused(damaged) ? 0 : 1;
  }
  for (std::size_t size = 0; size < file.size(); ++size) passed += is_refused(file.substr(0, size)) ? 0 : 1;
  CHECK(passed == 0);
  CHECK(is_refused(file + "x"));
}

TEST_CASE("safetensors: 10,000 flipped bits in a file of the size of a small net") {
  Random random(7);
  std::vector<float> values(20'000);
  for (float& value : values) value = static_cast<float>(random.uniform());
  const std::span<const float> all(values);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < 20; ++i)
    tensors.push_back({"layer" + std::to_string(i) + ".weight", {10, 100}, all.subspan(1000 * i, 1000)});
  std::string file = render_safetensors_header({{"step", "1"}}, tensors) + bytes_of(all);
  REQUIRE(!is_refused(file));
  const std::size_t head_bytes = file.size() - all.size_bytes();
  std::size_t passed = 0;
  for (int i = 0; i < 10'000; ++i) {  // every third one in the header
    const std::size_t bit = random.below(8 * (i % 3 == 0 ? head_bytes : file.size()));
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << bit % 8));
    passed += is_refused(file) ? 0 : 1;
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << bit % 8));
  }
  CHECK(passed == 0);
  CHECK(!is_refused(file));
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
