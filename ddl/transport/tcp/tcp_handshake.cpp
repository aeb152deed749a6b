// SPDX-License-Identifier: MIT
#include "ddl/transport/tcp/tcp_handshake.hpp"

#include <cstring>
#include <string_view>
#include <vector>

namespace ddl {
namespace {

constexpr std::string_view greeting = "libddl/1";
// One for each direction, against reflected messages.
constexpr std::string_view proof_label = "libddl/1 who connects";
constexpr std::string_view answer_label = "libddl/1 who listens";

class ByteWriter {
 public:
  ByteWriter& add(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  ByteWriter& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  // Lowest byte first, on every machine.
  ByteWriter& add_number(std::uint64_t value, int length) {
    for (int i = 0; i < length; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  template <typename Bytes>
  Bytes whole() const {
    Bytes all{};
    std::memcpy(all.data(), bytes_.data(), all.size());
    return all;
  }

 private:
  std::vector<std::byte> bytes_;
};

std::uint64_t number_in(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
  return value;
}

bool begins_with_greeting(std::span<const std::byte> bytes) {
  return std::memcmp(bytes.data(), greeting.data(), greeting.size()) == 0;
}

template <typename Bytes>
Bytes bytes_at(std::span<const std::byte> from, std::size_t at) {
  Bytes bytes{};
  std::memcpy(bytes.data(), from.data() + at, bytes.size());
  return bytes;
}

ByteWriter said_by_connector(const Nonce& hello, const Nonce& mine, const PeerInfo& info) {
  ByteWriter said;
  said.add(hello).add(mine).add_number(info.rank, 4).add_number(info.size, 4).add_number(info.run, 8);
  return said;
}

Digest digest_of_proof(const std::string& token, const Nonce& hello, const Nonce& mine,
                       const PeerInfo& info) {
  ByteWriter text;
  text.add(proof_label).add(said_by_connector(hello, mine, info).bytes());
  return hmac_sha256(token, text.bytes());
}

Digest digest_of_answer(const std::string& token, const Nonce& hello, const Proof& proof,
                        HandshakeStatus verdict, std::uint32_t number) {
  ByteWriter text;
  text.add(answer_label).add(said_by_connector(hello, proof.nonce, proof.info).bytes());
  text.add_number(static_cast<std::uint32_t>(verdict), 4).add_number(number, 4);
  return hmac_sha256(token, text.bytes());
}

}  // namespace

HelloBytes render_hello(const Nonce& nonce) {
  return ByteWriter().add(greeting).add(nonce).whole<HelloBytes>();
}

std::optional<Nonce> parse_hello(const HelloBytes& bytes) {
  if (!begins_with_greeting(bytes)) return std::nullopt;
  return bytes_at<Nonce>(bytes, 8);
}

ProofBytes render_proof(const std::string& token, const Nonce& hello, const Nonce& mine,
                        const PeerInfo& info) {
  ByteWriter text;
  text.add(greeting).add(mine).add_number(info.rank, 4).add_number(info.size, 4).add_number(info.run, 8);
  return text.add(digest_of_proof(token, hello, mine, info)).whole<ProofBytes>();
}

std::optional<Proof> parse_proof(const ProofBytes& bytes) {
  if (!begins_with_greeting(bytes)) return std::nullopt;
  const std::span<const std::byte> all(bytes);
  Proof proof;
  proof.nonce = bytes_at<Nonce>(all, 8);
  proof.info.rank = static_cast<std::uint32_t>(number_in(all.subspan(40, 4)));
  proof.info.size = static_cast<std::uint32_t>(number_in(all.subspan(44, 4)));
  proof.info.run = number_in(all.subspan(48, 8));
  proof.digest = bytes_at<Digest>(all, 56);
  return proof;
}

bool is_proven(const std::string& token, const Nonce& hello, const Proof& proof) {
  return same_digest(proof.digest, digest_of_proof(token, hello, proof.nonce, proof.info));
}

AnswerBytes render_answer(const std::string& token, const Nonce& hello, const Proof& proof,
                          HandshakeStatus verdict, std::uint32_t number) {
  ByteWriter text;
  text.add_number(static_cast<std::uint32_t>(verdict), 4).add_number(number, 4);
  return text.add(digest_of_answer(token, hello, proof, verdict, number)).whole<AnswerBytes>();
}

std::optional<Answer> parse_answer(const AnswerBytes& bytes) {
  const std::span<const std::byte> all(bytes);
  const std::uint64_t verdict = number_in(all.subspan(0, 4));
  if (verdict > static_cast<std::uint32_t>(HandshakeStatus::unexpected_rank)) return std::nullopt;
  Answer answer;
  answer.verdict = static_cast<HandshakeStatus>(verdict);
  answer.number = static_cast<std::uint32_t>(number_in(all.subspan(4, 4)));
  answer.digest = bytes_at<Digest>(all, 8);
  return answer;
}

bool is_proven(const std::string& token, const Nonce& hello, const Proof& proof, const Answer& answer) {
  return same_digest(answer.digest, digest_of_answer(token, hello, proof, answer.verdict, answer.number));
}

}  // namespace ddl
