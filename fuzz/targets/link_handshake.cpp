// SPDX-License-Identifier: MIT
// libddl's handshake: what is parsed is rendered alike, and a peer without the token is never a rank.
#include "ddl/transport/tcp/tcp_handshake.hpp"
#include "fuzz/fuzz_target.hpp"

#include <algorithm>
#include <cstring>

using namespace ddlrun;

namespace {

template <typename Bytes>
Bytes bytes_of(std::string_view& input) {
  Bytes bytes{};
  const std::size_t size = std::min(input.size(), bytes.size());
  std::memcpy(bytes.data(), input.data(), size);
  input.remove_prefix(size);
  return bytes;
}

}  // namespace

DDLRUN_FUZZ_TARGET(link_handshake) {
  const auto hello = bytes_of<ddl::HelloBytes>(input);
  const auto nonce = ddl::parse_hello(hello);
  if (!nonce) return;
  fuzz::require(ddl::render_hello(*nonce) == hello, "a greeting is rendered as it was read");
  const auto proof = ddl::parse_proof(bytes_of<ddl::ProofBytes>(input));
  if (!proof) return;
  fuzz::require(!ddl::is_proven("the token", *nonce, *proof), "a peer without the token is no rank");
  const auto ours = ddl::parse_proof(ddl::render_proof("the token", *nonce, proof->nonce, proof->info));
  fuzz::require(ours && ours->info.rank == proof->info.rank && ours->info.size == proof->info.size &&
                    ours->info.run == proof->info.run && ddl::is_proven("the token", *nonce, *ours),
                "who has the token is a rank");
  const auto answer = ddl::parse_answer(bytes_of<ddl::AnswerBytes>(input));
  if (answer)
    fuzz::require(!ddl::is_proven("the token", *nonce, *ours, *answer),
                  "a peer without the token has no valid answer");
}
