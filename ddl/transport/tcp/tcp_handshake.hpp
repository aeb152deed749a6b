// SPDX-License-Identifier: MIT
// What two ranks say to each other on a new connection before anything else. Both prove that they know the
// token; it never travels. Pure: bytes in, bytes out.
//
//   who listens   hello    "libddl/1", a random number
//   who connects  proof    "libddl/1", a random number, its rank, the size and number of the run, HMAC of all
//   who listens   answer   yes or why not, HMAC of that and all before
#pragma once

#include "ddl/core/openssl_hmac.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ddl {

using Nonce = std::array<std::byte, 32>;
using HelloBytes = std::array<std::byte, 40>;
using ProofBytes = std::array<std::byte, 88>;
using AnswerBytes = std::array<std::byte, 40>;

// Who a rank says that it is.
struct PeerInfo {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint64_t run = 0;  // drawn by rank 0; 0 before it is known
};

enum class HandshakeStatus : std::uint32_t {
  accepted,
  wrong_token,
  wrong_size,
  duplicate_rank,
  unexpected_rank
};

struct Proof {
  Nonce nonce{};
  PeerInfo info;
  Digest digest{};
};
struct Answer {
  HandshakeStatus verdict = HandshakeStatus::accepted;
  std::uint32_t number = 0;  // the size that the run has
  Digest digest{};
};

HelloBytes render_hello(const Nonce& nonce);
std::optional<Nonce> parse_hello(const HelloBytes& bytes);

ProofBytes render_proof(const std::string& token, const Nonce& hello, const Nonce& mine,
                        const PeerInfo& info);
// Nothing when another program speaks.
std::optional<Proof> parse_proof(const ProofBytes& bytes);
bool is_proven(const std::string& token, const Nonce& hello, const Proof& proof);

AnswerBytes render_answer(const std::string& token, const Nonce& hello, const Proof& proof,
                          HandshakeStatus verdict, std::uint32_t number);
std::optional<Answer> parse_answer(const AnswerBytes& bytes);
bool is_proven(const std::string& token, const Nonce& hello, const Proof& proof, const Answer& answer);

}  // namespace ddl
