// SPDX-License-Identifier: MIT
// HMAC-SHA256 against the test vectors of RFC 4231.
#include "ddl/core/openssl_hmac.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

TEST_SUITE_BEGIN("ddl/core/openssl_hmac");

namespace {

std::string hex_of(const ddl::Digest& digest) {
  std::string text;
  for (const std::byte each : digest) text += fmt::format("{:02x}", static_cast<unsigned>(each));
  return text;
}

std::string counted_to(char last) {
  std::string text;
  for (char each = 1; each <= last; ++each) text += each;
  return text;
}

}  // namespace

TEST_CASE("HMAC-SHA256 has the values of RFC 4231") {
  struct Row {
    int number;
    std::string key;
    std::string text;
    std::string digest;  // test 5 publishes the first half
  };
  const Row rows[] = {
      {1, std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {2, "Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {3, std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {4, counted_to(25), std::string(50, '\xcd'),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {5, std::string(20, '\x0c'), "Test With Truncation", "a3b6167473100ee06e0c796c2955552b"},
      {6, std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {7, std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than block-size data. The key needs "
       "to be "
       "hashed before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.number);
    const std::string digest = hex_of(ddl::hmac_sha256(row.key, std::as_bytes(std::span(row.text))));
    CHECK(digest.substr(0, row.digest.size()) == row.digest);
  }
}

TEST_CASE("no text has a digest too, whatever was asked before") {
  // printf '' | openssl dgst -sha256 -hmac key
  ddl::hmac_sha256("another", std::as_bytes(std::span("text", 4)));
  CHECK(hex_of(ddl::hmac_sha256("key", {})) ==
        "5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0");
}

TEST_CASE("digests are the same only with all bits") {
  const ddl::Digest one = ddl::hmac_sha256("key", {});
  CHECK(ddl::same_digest(one, one));
  for (std::size_t bit = 0; bit < 256; ++bit) {
    ddl::Digest other = one;
    other[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    CHECK_FALSE(ddl::same_digest(one, other));
  }
}

TEST_SUITE_END();
