// SPDX-License-Identifier: MIT
#include "ddl/core/openssl_hmac.hpp"

#include "ddl/error.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace ddl {

Digest hmac_sha256(std::string_view key, std::span<const std::byte> text) {
  Digest digest{};
  unsigned int length = 0;
  // Not null also where there is no text: null would mean the key of the call before.
  const auto* start = reinterpret_cast<const unsigned char*>(text.empty() ? digest.data() : text.data());
  const unsigned char* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), start, text.size(),
                                   reinterpret_cast<unsigned char*>(digest.data()), &length);
  if (made == nullptr || length != digest.size())
    throw Error(Fault::unsupported, "libcrypto cannot compute HMAC-SHA256", "",
                "openssl list -mac-algorithms");
  return digest;
}

bool same_digest(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(std::span<std::byte> bytes) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1)
    throw Error(Fault::unsupported, "libcrypto has no random numbers", "", "openssl rand -hex 16");
}

}  // namespace ddl
