// SPDX-License-Identifier: MIT
// Caffe links layers by the names of their outputs, which later layers may write over: what each name holds
// now.
#pragma once

#include "runtime/caffe/layers_protobuf.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace ddlrun::runtime {

enum class BlobKind {
  images,
  labels,
  values,    // of a layer that computes
  observed,  // probabilities, losses, accuracies: not used in training
  unknown,   // of a layer that was refused
};

struct CaffeBlob {
  BlobKind kind = BlobKind::unknown;
  std::size_t layer = 0;  // values: which, in the order of those that compute
  bool flat = false;      // after Flatten
  std::string maker;      // a layer's name, for messages
};

class BlobTable {
 public:
  BlobTable(std::string phase, CaffeReport& report) : phase_(std::move(phase)), report_(report) {}

  // The blob of bottom `index`; an unknown one is reported and has kind unknown.
  CaffeBlob find(const LocatedLayer& layer, int index);
  void set_top(const LocatedLayer& layer, int index, CaffeBlob blob);
  // All tops become `kind`, nothing more than that.
  void set_tops(const LocatedLayer& layer, BlobKind kind);

  // Its number of bottoms and tops (-1: any); where it is wrong, the tops become unknown.
  bool check_counts(const LocatedLayer& layer, int least_bottoms, int most_bottoms, int tops);
  // Whether a layer may compute from this bottom; reports the reason if not.
  bool check_readable(const LocatedLayer& layer, int index, const CaffeBlob& blob);

  // The name of a batch norm's output that has been scaled under another name.
  void spend(const std::string& name) { spent_.insert(name); }

 private:
  std::string phase_;
  CaffeReport& report_;
  std::map<std::string, CaffeBlob> blobs_;
  std::set<std::string> spent_;
};

// An error in a value of a layer's field.
void refuse_field(const LocatedLayer& layer, const char* field, int index, const std::string& what,
                  std::string hint, CaffeReport& report);

}  // namespace ddlrun::runtime
