// SPDX-License-Identifier: MIT
#include "doctor/diagnose/literal_scanner.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace ddlrun::diagnose {

namespace {

constexpr unsigned bucket_bits = 12;

std::uint32_t load(const char* bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::uint32_t hash(std::uint32_t bytes, unsigned bits) { return (bytes * 0x9E3779B1u) >> (32 - bits); }

// How often a byte is met in logs, roughly; windows of rare bytes make few false alarms.
unsigned commonness(char byte) {
  if (byte == ' ' || byte == '.' || (byte >= '0' && byte <= '9')) return 10;
  if (byte >= 'a' && byte <= 'z') return std::strchr("etaoinsrl", byte) != nullptr ? 8 : 5;
  if (byte >= 'A' && byte <= 'Z') return 3;
  return 2;
}

// Where the `length` rarest neighbouring bytes begin.
std::size_t rarest_window(const std::string& literal, std::size_t length) {
  std::size_t best = 0;
  unsigned best_sum = UINT32_MAX;
  for (std::size_t begin = 0; begin + length <= literal.size(); ++begin) {
    unsigned sum = 0;
    for (std::size_t i = begin; i < begin + length; ++i) sum += commonness(literal[i]);
    if (sum < best_sum) {
      best = begin;
      best_sum = sum;
    }
  }
  return best;
}

}  // namespace

LiteralScanner::LiteralScanner(std::vector<std::string> literals)
    : literals_(std::move(literals)), filter_((1u << filter_bits) / 64), bucket_((1u << bucket_bits) + 1) {
  std::size_t shortest = 12;
  for (const std::string& literal : literals_) shortest = std::min(shortest, literal.size());
  if (shortest < min_length) throw std::logic_error("a literal is shorter than the scanner's minimum");
  stride_ = shortest - gram + 1;
  for (std::uint32_t number = 0; number < literals_.size(); ++number) {
    const std::string& literal = literals_[number];
    const std::size_t window = rarest_window(literal, shortest);
    for (std::size_t i = window; i < window + stride_; ++i) {
      const std::uint32_t bytes = load(literal.data() + i);
      const std::uint32_t bit = hash(bytes, filter_bits);
      filter_[bit / 64] |= std::uint64_t{1} << (bit % 64);
      places_.push_back({bytes, number, static_cast<std::uint32_t>(i)});
    }
  }
  std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    return hash(a.gram_bytes, bucket_bits) < hash(b.gram_bytes, bucket_bits);
  });
  for (const Place& place : places_) ++bucket_[hash(place.gram_bytes, bucket_bits) + 1];
  for (std::size_t i = 1; i < bucket_.size(); ++i) bucket_[i] += bucket_[i - 1];
}

template <typename Visit>
void LiteralScanner::scan(std::string_view text, std::size_t from, const Visit& visit) const {
  const char* const data = text.data();
  for (std::size_t at = from; at + gram <= text.size(); at += stride_) {
    const std::uint32_t bytes = load(data + at);
    const std::uint32_t bit = hash(bytes, filter_bits);
    if ((filter_[bit / 64] >> (bit % 64) & 1) == 0) continue;
    const std::uint32_t bucket = hash(bytes, bucket_bits);
    for (std::uint32_t i = bucket_[bucket]; i < bucket_[bucket + 1]; ++i) {
      const Place& place = places_[i];
      if (place.gram_bytes != bytes || at < from + place.offset) continue;
      const std::size_t begin = at - place.offset;
      const std::string& literal = literals_[place.literal];
      if (begin + literal.size() > text.size()) continue;
      if (std::memcmp(data + begin, literal.data(), literal.size()) != 0) continue;
      if (!visit(Hit{begin, place.literal})) return;
    }
  }
}

LiteralScanner::Hit LiteralScanner::find(std::string_view text, std::size_t from) const {
  Hit first;
  scan(text, from, [&first](const Hit& hit) {
    first = hit;
    return false;
  });
  return first;
}

std::vector<std::uint32_t> LiteralScanner::find_all(std::string_view text) const {
  std::vector<std::uint32_t> found;
  scan(text, 0, [&found](const Hit& hit) {
    found.push_back(hit.literal);
    return found.size() < 10'000;
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace ddlrun::diagnose
