// SPDX-License-Identifier: MIT
// Ranks on a grid of thread wires, and vectors of any type that are filled and read as double.
#pragma once

#include "ddl/collectives/inter_node_collectives.hpp"
#include "ddl/core/kernels.hpp"
#include "ddl/data_type.hpp"
#include "ddl/error.hpp"
#include "ddl/transport/thread/thread_peer_comm.hpp"

#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ddl::testing {

// rank = y + Y*(z + Z*a); one wire on each level that is not left out.
struct Grid3 {
  int y = 1;
  int z = 0;  // 0: there is no such level
  int a = 0;

  int size(int level) const { return level == 0 ? y : level == 1 ? z : a; }
  int levels() const { return a > 0 ? 3 : z > 0 ? 2 : 1; }
  int ranks() const { return y * std::max(z, 1) * std::max(a, 1); }
  int stride(int level) const { return level == 0 ? 1 : level == 1 ? y : y * z; }
  std::string text() const { return std::to_string(y) + "x" + std::to_string(z) + "x" + std::to_string(a); }
  std::vector<int> position_of(int rank) const {
    std::vector<int> position;
    for (int level = 0; level < levels(); ++level) position.push_back(rank / stride(level) % size(level));
    return position;
  }
};

struct RankOnPeers {
  int rank = 0;
  std::vector<std::unique_ptr<PeerComm>> owned;
  std::vector<PeerComm*> ends;

  std::span<PeerComm* const> comms() const { return ends; }
};

// Runs `work` on all ranks, each a thread; returns what they complain of, the lowest rank's first.
inline std::string run_on_peers(const Grid3& grid, const std::function<std::string(RankOnPeers&)>& work,
                                const ThreadPeerCommOptions& options = {}) {
  std::vector<RankOnPeers> ranks(static_cast<std::size_t>(grid.ranks()));
  for (int rank = 0; rank < grid.ranks(); ++rank) ranks[static_cast<std::size_t>(rank)].rank = rank;
  for (int level = 0; level < grid.levels(); ++level) {
    for (int first = 0; first < grid.ranks(); ++first) {
      if (first / grid.stride(level) % grid.size(level) != 0) continue;  // the lowest of its wire
      auto ends = make_thread_peer_comms(grid.size(level), options);
      for (int i = 0; i < grid.size(level); ++i) {
        RankOnPeers& member = ranks[static_cast<std::size_t>(first + i * grid.stride(level))];
        member.ends.push_back(ends[static_cast<std::size_t>(i)].get());
        member.owned.push_back(std::move(ends[static_cast<std::size_t>(i)]));
      }
    }
  }
  std::vector<std::string> complaints(ranks.size());
  std::vector<std::thread> threads;
  for (RankOnPeers& rank : ranks) {
    threads.emplace_back([&rank, &complaints, &work] {
      try {
        complaints[static_cast<std::size_t>(rank.rank)] = work(rank);
      } catch (const std::exception& error) {
        complaints[static_cast<std::size_t>(rank.rank)] = std::string("threw: ") + error.what();
      }
      rank.owned.clear();  // gone: a rank that still waits for this rank is reported
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& complaint : complaints) {
    if (!complaint.empty()) return complaint;
  }
  return "";
}

class TypedVector {
 public:
  TypedVector(DataType type, std::size_t count) : type_(type), bytes_(count * size_of(type) + 1) {}

  std::byte* bytes() { return bytes_.data(); }
  void set(std::size_t i, double value) { put(bytes_.data() + i * size_of(type_), value); }
  double get(std::size_t i) const { return take(bytes_.data() + i * size_of(type_)); }
  double rounded(double value) const {
    std::byte place[8];
    put(place, value);
    return take(place);
  }
  double epsilon() const {  // a unit in the last place, relative
    switch (type_) {
      case DataType::float16:
        return 1.0 / 1024;
      case DataType::bfloat16:
        return 1.0 / 128;
      case DataType::float32:
        return 1.2e-7;
      case DataType::float64:
        return 2.3e-16;
      case DataType::int32:
      case DataType::int64:
      case DataType::uint8:
        break;
    }
    return 0;
  }

 private:
  void put(std::byte* place, double value) const {
    const auto single = static_cast<float>(value);
    const auto whole = static_cast<std::int64_t>(is_integer(type_) ? value : 0);  // the low bytes first
    if (type_ == DataType::float64) std::memcpy(place, &value, 8);
    if (type_ == DataType::float32) std::memcpy(place, &single, 4);
    if (is_integer(type_)) std::memcpy(place, &whole, size_of(type_));
    if (size_of(type_) == 2) narrow(type_, {&single, 1}, place);
  }
  double take(const std::byte* place) const {
    const auto read_as = [&](auto number) {
      std::memcpy(&number, place, sizeof(number));
      return static_cast<double>(number);
    };
    float single = 0;
    switch (type_) {
      case DataType::float64:
        return read_as(double{});
      case DataType::float32:
        return read_as(float{});
      case DataType::int32:
        return read_as(std::int32_t{});
      case DataType::int64:
        return read_as(std::int64_t{});
      case DataType::uint8:
        return read_as(std::uint8_t{});
      case DataType::float16:
      case DataType::bfloat16:
        break;
    }
    widen(type_, place, {&single, 1});
    return single;
  }

  DataType type_;
  std::vector<std::byte> bytes_;
};

inline InterNodeOptions inter_node_options(InterNodeAlgorithm algorithm,
                                           std::size_t message_bytes = 128 << 10) {
  InterNodeOptions options;
  options.algorithm = algorithm;
  options.message_bytes = message_bytes;
  return options;
}

}  // namespace ddl::testing
