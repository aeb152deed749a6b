// SPDX-License-Identifier: MIT
#include "doctor/diagnose/literal_scanner.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t short_gram = 4, short_stride = 3;
constexpr std::size_t long_gram = 8, long_stride = 2 * short_stride;
constexpr std::size_t long_literal = long_gram + long_stride - 1;  // the shortest of them
static_assert(LiteralScanner::min_length == short_gram + short_stride - 1);

// The filters fit in the caches of a core; with 6,000 literals one look in 30 passes in a training log.
constexpr unsigned word_bits = 13, bucket_bits = 15;

template <typename Bytes>
std::uint32_t hash_at(const char* bytes) {
  Bytes value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<std::uint32_t>(value * 0x9E3779B97F4A7C15u >> 32);
}
std::uint32_t short_hash(const char* bytes) { return hash_at<std::uint32_t>(bytes); }
std::uint32_t long_hash(const char* bytes) { return hash_at<std::uint64_t>(bytes); }

std::uint32_t top(std::uint32_t hash, unsigned bits) { return hash >> (32 - bits); }

// The two bits of a hash in its word of the filter.
unsigned first_bit(std::uint32_t hash) { return hash >> (32 - word_bits - 6) & 63; }
unsigned second_bit(std::uint32_t hash) { return hash >> (32 - word_bits - 12) & 63; }

// How often a byte is met in logs, roughly; rare bytes make few false alarms. Lines are drawn with repeated
// ones.
unsigned commonness(char byte, char before) {
  if (byte == before) return 10;
  if (byte == ' ' || byte == '.' || (byte >= '0' && byte <= '9')) return 10;
  if (byte >= 'a' && byte <= 'z') return std::strchr("etaoinsrl", byte) != nullptr ? 8 : 5;
  if (byte >= 'A' && byte <= 'Z') return 3;
  return 2;
}

// Words of which logs of healthy training jobs are full.
constexpr std::string_view common_texts[] = {
    " INFO ",       "NCCL INFO ",  "WARNING ",    "Warning: ", "epoch ",    "Epoch ",       "step ",
    "Iteration ",   " iterations", " loss ",      "accuracy ", "current_",  " rate ",       " time ",
    "timestamp",    " seconds",    "images/",     "training ", "trainer",   "train_",       "test_",
    "batch ",       " batches",    "validation ", " valid ",   "memory ",   "data_",        " dataset",
    " loaded ",     " from ",      " rank ",      "rank 0",    " node ",    " checkpoint ", "checkpoints",
    " model ",      " saved to ",  "stdout",      "stderr",    " network ", "Channel ",     "/site-packages/",
    "/lib/python3", "function",    " version ",   " using ",   " device ",  " default "};

// Their parts of `gram` bytes, sorted.
std::vector<std::string_view> common_grams(std::size_t gram) {
  std::vector<std::string_view> grams;
  for (const std::string_view text : common_texts)
    for (std::size_t i = 0; i + gram <= text.size(); ++i) grams.push_back(text.substr(i, gram));
  std::ranges::sort(grams);
  return grams;
}

// Where `stride` neighbouring grams begin of which the fewest are common, then the most common is the rarest.
std::size_t rarest_window(std::string_view literal, std::size_t gram, std::size_t stride,
                          const std::vector<std::string_view>& common) {
  std::vector<std::pair<unsigned, unsigned>> costs;  // of each gram: 1 where it is common, its bytes
  for (std::size_t begin = 0; begin + gram <= literal.size(); ++begin) {
    unsigned sum = 0;
    for (std::size_t i = begin; i < begin + gram; ++i)
      sum += commonness(literal[i], i == 0 ? '\0' : literal[i - 1]);
    costs.emplace_back(std::ranges::binary_search(common, literal.substr(begin, gram)) ? 1 : 0, sum);
  }
  std::size_t best = 0;
  std::pair<unsigned, unsigned> least{UINT32_MAX, UINT32_MAX};
  for (std::size_t begin = 0; begin + stride <= costs.size(); ++begin) {
    std::pair<unsigned, unsigned> cost;
    for (std::size_t i = begin; i < begin + stride; ++i)
      cost = {cost.first + costs[i].first, std::max(cost.second, costs[i].second)};
    if (cost >= least) continue;
    best = begin;
    least = cost;
  }
  return best;
}

}  // namespace

LiteralScanner::LiteralScanner(std::vector<std::string> literals)
    : literals_(std::move(literals)),
      short_filter_(1u << word_bits),
      long_filter_(1u << word_bits),
      bucket_((1u << bucket_bits) + 1) {
  const auto short_common = common_grams(short_gram), long_common = common_grams(long_gram);
  for (std::uint32_t number = 0; number < literals_.size(); ++number) {
    const std::string& literal = literals_[number];
    if (literal.size() < min_length)
      throw std::logic_error("a literal is shorter than the scanner's minimum");
    const bool is_long = literal.size() >= long_literal;
    const std::size_t stride = is_long ? long_stride : short_stride;
    const std::size_t window = is_long ? rarest_window(literal, long_gram, stride, long_common)
                                       : rarest_window(literal, short_gram, stride, short_common);
    for (std::size_t i = window; i < window + stride; ++i) {
      const char* const bytes = literal.data() + i;
      const std::uint32_t hash = is_long ? long_hash(bytes) : short_hash(bytes);
      if (is_long)
        long_filter_[top(hash, word_bits)] |=
            (std::uint64_t{1} << first_bit(hash)) | (std::uint64_t{1} << second_bit(hash));
      else
        short_filter_[top(hash, word_bits)] |= std::uint64_t{1} << first_bit(hash);
      places_.push_back({hash, number, static_cast<std::uint32_t>(i)});
    }
  }
  std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    return std::tie(a.hash, a.literal, a.offset) < std::tie(b.hash, b.literal, b.offset);
  });
  for (const Place& place : places_) ++bucket_[top(place.hash, bucket_bits) + 1];
  for (std::size_t i = 1; i < bucket_.size(); ++i) bucket_[i] += bucket_[i - 1];
}

template <typename Visit>
void LiteralScanner::scan(std::string_view text, std::size_t from, const Visit& visit) const {
  // False where `visit` ends the scan.
  const auto look = [&](std::uint32_t hash, std::size_t at) {
    const std::uint32_t bucket = top(hash, bucket_bits);
    for (std::uint32_t i = bucket_[bucket]; i < bucket_[bucket + 1]; ++i) {
      const Place& place = places_[i];
      if (place.hash != hash) continue;
      const std::string& literal = literals_[place.literal];
      if (at < from + place.offset || at - place.offset + literal.size() > text.size()) continue;
      const std::size_t begin = at - place.offset;
      if (std::memcmp(text.data() + begin, literal.data(), literal.size()) != 0) continue;
      if (!visit(Hit{begin, place.literal})) return false;
    }
    return true;
  };
  std::size_t at = from;
  for (; at + long_gram <= text.size(); at += long_stride) {
    const char* const bytes = text.data() + at;
    const std::uint32_t whole = long_hash(bytes), first = short_hash(bytes),
                        second = short_hash(bytes + short_stride);
    const std::uint64_t word = long_filter_[top(whole, word_bits)];
    const std::uint64_t any_short = short_filter_[top(first, word_bits)] >> first_bit(first) |
                                    short_filter_[top(second, word_bits)] >> first_bit(second);
    if ((((word >> first_bit(whole) & word >> second_bit(whole)) | any_short) & 1) == 0) continue;
    if (!look(whole, at) || !look(first, at) || !look(second, at + short_stride)) return;
  }
  for (; at + short_gram <= text.size(); at += short_stride) {
    if (!look(short_hash(text.data() + at), at)) return;
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
