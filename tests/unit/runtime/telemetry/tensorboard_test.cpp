// SPDX-License-Identifier: MIT
// The encoding against vectors of others; tests/mpi/seeing.sh reads whole files with Google's protocol
// buffers.
#include "runtime/telemetry/tensorboard.hpp"

#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/telemetry/tensorboard");

TEST_CASE("tensorboard: CRC-32C gives the values of RFC 3720, B.4, and of the check of its catalogue") {
  std::string ascending;
  std::string descending;
  for (int i = 0; i < 32; ++i) {
    ascending += static_cast<char>(i);
    descending += static_cast<char>(31 - i);
  }
  struct Row {
    std::string bytes;
    std::uint32_t sum;
  };
  const Row rows[] = {{std::string(32, '\0'), 0x8a9136aaU},
                      {std::string(32, '\xff'), 0x62a8ab43U},
                      {ascending, 0x46dd794eU},
                      {descending, 0x113fdb5cU},
                      {"123456789", 0xe3069283U},
                      {"", 0U}};
  for (const Row& row : rows) {
    CAPTURE(row.bytes.size());
    CHECK(crc32c(row.bytes) == row.sum);
  }
}

TEST_CASE("tensorboard: the first record is the one that TensorFlow writes") {
  // Event{wall_time: 1.5, file_version: "brain.Event:2"}, as protoc --encode gives it.
  const std::string event = encode_version_event(1.5);
  CHECK(event == std::string("\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\x1a\x0d", 11) + "brain.Event:2");
  const std::string record = frame_record(event);
  CHECK(record.size() == 8 + 4 + event.size() + 4);
  CHECK(record.substr(0, 8) == std::string("\x18\0\0\0\0\0\0\0", 8));
  CHECK(record.substr(12, event.size()) == event);
}

TEST_CASE("tensorboard: scalars, large and negative steps, floats that are no numbers") {
  // Event{wall_time: 2, step: 300, summary{value{tag: "a", simple_value: 0.5}}}
  const std::pair<std::string_view, double> one[] = {{"a", 0.5}};
  CHECK(
      encode_scalars_event(2.0, 300, one) ==
      std::string(
          "\x09\x00\x00\x00\x00\x00\x00\x00\x40\x10\xac\x02\x2a\x0a\x0a\x08\x0a\x01\x61\x15\x00\x00\x00\x3f",
          24));
  const std::pair<std::string_view, double> none[] = {{"a", std::nan("")}};
  CHECK(encode_scalars_event(2.0, 1, none).size() == 23);
}

TEST_CASE("tensorboard: a directory that cannot be made is refused") {
  expect_error(ErrorKind::request, "cannot be created", [] { TensorboardFile("/proc/no/such", RunFacts{}); });
  TensorboardFile nothing("", RunFacts{});
  nothing.on_start(1, 0);
  nothing.on_step({});
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
