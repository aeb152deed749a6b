// SPDX-License-Identifier: MIT
// Who is let in: each bit of what both say counts, and the token is not among it.
#include "ddl/transport/tcp/tcp_handshake.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

TEST_SUITE_BEGIN("ddl/transport/tcp/tcp_handshake");

namespace {

const std::string shared_token = "vN4n0q1Yw7m6Yb3bC2xk";
constexpr ddl::PeerInfo card_of_rank_3{3, 4, 0x1122334455667788u};

ddl::Nonce nonce_of(unsigned seed) {
  ddl::Nonce nonce{};
  for (std::size_t i = 0; i < nonce.size(); ++i) nonce[i] = static_cast<std::byte>(seed + i);
  return nonce;
}

template <typename Bytes>
Bytes flipped(Bytes bytes, std::size_t bit) {
  bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  return bytes;
}

template <typename Bytes>
bool holds_piece_of_token(const Bytes& bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t i = 0; i + 4 <= shared_token.size(); ++i) {
    if (text.find(shared_token.substr(i, 4)) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("who has the token is let in, and knows that it was let in by one who has it") {
  const ddl::Nonce hello = nonce_of(1);
  const auto generation = ddl::parse_hello(ddl::render_hello(hello));
  REQUIRE(generation.has_value());
  CHECK(*generation == hello);
  const ddl::ProofBytes said = ddl::render_proof(shared_token, hello, nonce_of(70), card_of_rank_3);
  const auto proof = ddl::parse_proof(said);
  REQUIRE(proof.has_value());
  CHECK(proof->info.rank == 3);
  CHECK(proof->info.size == 4);
  CHECK(proof->info.run == card_of_rank_3.run);
  CHECK(ddl::is_proven(shared_token, hello, *proof));
  const ddl::AnswerBytes reported =
      ddl::render_answer(shared_token, hello, *proof, ddl::HandshakeStatus::duplicate_rank, 4);
  const auto answer = ddl::parse_answer(reported);
  REQUIRE(answer.has_value());
  CHECK(answer->verdict == ddl::HandshakeStatus::duplicate_rank);
  CHECK(answer->number == 4);
  CHECK(ddl::is_proven(shared_token, hello, *proof, *answer));
  CHECK_FALSE(holds_piece_of_token(said));
  CHECK_FALSE(holds_piece_of_token(reported));
}

TEST_CASE("a wrong bit anywhere, another token, or what was said before proves nothing") {
  const ddl::Nonce hello = nonce_of(1);
  const ddl::ProofBytes said = ddl::render_proof(shared_token, hello, nonce_of(70), card_of_rank_3);
  const ddl::Proof proof = *ddl::parse_proof(said);
  for (std::size_t bit = 0; bit < said.size() * 8; ++bit) {
    CAPTURE(bit);
    const auto wrong = ddl::parse_proof(flipped(said, bit));
    CHECK_FALSE((wrong && ddl::is_proven(shared_token, hello, *wrong)));
  }
  CHECK_FALSE(ddl::is_proven(shared_token + "x", hello, proof));
  CHECK_FALSE(ddl::is_proven("", hello, proof));
  CHECK_FALSE(ddl::is_proven(shared_token, nonce_of(2), proof));

  const ddl::AnswerBytes reported =
      ddl::render_answer(shared_token, hello, proof, ddl::HandshakeStatus::accepted, 4);
  for (std::size_t bit = 0; bit < reported.size() * 8; ++bit) {
    CAPTURE(bit);
    const auto wrong = ddl::parse_answer(flipped(reported, bit));
    CHECK_FALSE((wrong && ddl::is_proven(shared_token, hello, proof, *wrong)));
  }
  // Who sends back what it was sent.
  ddl::Answer echo = *ddl::parse_answer(reported);
  echo.digest = proof.digest;
  CHECK_FALSE(ddl::is_proven(shared_token, hello, proof, echo));
}

TEST_CASE("other programs are known by their first bytes") {
  ddl::HelloBytes hello{};
  ddl::ProofBytes proof{};
  const std::string http = "GET / HTTP/1.1\r\nHost: h1:29400\r\n\r\n";
  std::copy_n(reinterpret_cast<const std::byte*>(http.data()), http.size(), hello.begin());
  std::copy_n(reinterpret_cast<const std::byte*>(http.data()), http.size(), proof.begin());
  CHECK_FALSE(ddl::parse_hello(hello));
  CHECK_FALSE(ddl::parse_proof(proof));
  CHECK_FALSE(ddl::parse_hello({}));
  ddl::AnswerBytes answer{};
  answer.fill(std::byte{0xff});
  CHECK_FALSE(ddl::parse_answer(answer));
}

TEST_SUITE_END();
