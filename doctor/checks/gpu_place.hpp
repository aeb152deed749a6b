// SPDX-License-Identifier: MIT
// Which cores a rankfile gives to the rank of each GPU of a host, and how far they are from it.
#pragma once

#include "doctor/model/check.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

enum class Nearness { same_node, same_package, other_package };

struct RankPlace {
  std::uint32_t rank = 0;
  std::uint64_t gpu = 0;  // in PCI bus order = local rank
  std::string slots;
  Nearness nearness = Nearness::same_node;
};

struct RankPlaces {
  std::vector<RankPlace> places;
  std::string problem;  // why there are none
};

// Local rank x, counted in order of ranks, has GPU x.
class RankPlacer {
 public:
  explicit RankPlacer(std::string_view rankfile);  // its text
  RankPlaces find(const HostReport& host) const;

 private:
  bool empty_;
  std::map<std::string, std::vector<rankfile::RankLine>, std::less<>> ranks_;  // by short host name
};

}  // namespace ddlrun::doctor
