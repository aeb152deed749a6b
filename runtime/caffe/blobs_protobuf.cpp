// SPDX-License-Identifier: MIT
#include "runtime/caffe/blobs_protobuf.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ddlrun::runtime {

void refuse_field(const LocatedLayer& layer, const char* field, int index, const std::string& what,
                  std::string hint, CaffeReport& report) {
  report.refuse(layer.location.at(field, index).text(), layer.owner + what, std::move(hint));
}

CaffeBlob BlobTable::find(const LocatedLayer& layer, int index) {
  const std::string& bottom = layer.parameter.bottom(index);
  const auto found = blobs_.find(bottom);
  if (found != blobs_.end()) return found->second;
  if (report_.full()) return {};
  std::vector<std::string> names;
  for (const auto& [name, blob] : blobs_) names.push_back(name);
  const auto near = closest_match(bottom, names);
  refuse_field(
      layer, "bottom", index,
      fmt::format("reads '{}', which no earlier layer produces in the {} phase{}", printable(bottom, 60),
                  phase_, near ? fmt::format("; did you mean {}?", printable(*near, 60)) : ""),
      fmt::format("bottom: \"{}\"", printable(near.value_or("data"), 60)), report_);
  return {};
}

void BlobTable::set_top(const LocatedLayer& layer, int index, CaffeBlob blob) {
  const std::string& top = layer.parameter.top(index);
  const auto& bottoms = layer.parameter.bottom();
  const bool in_place = std::find(bottoms.begin(), bottoms.end(), top) != bottoms.end();
  if (!in_place && blobs_.contains(top)) {
    refuse_field(layer, "top", index,
                 fmt::format("produces '{}', which {} already produces", printable(top, 60),
                             printable(blobs_[top].maker, 60)),
                 fmt::format("top: \"{}_2\"", printable(top, 60)), report_);
  }
  blob.maker = layer.parameter.name();
  blobs_[top] = std::move(blob);
}

void BlobTable::set_tops(const LocatedLayer& layer, BlobKind kind) {
  for (int i = 0; i < layer.parameter.top_size(); ++i) set_top(layer, i, {kind, 0, false, {}});
}

bool BlobTable::check_counts(const LocatedLayer& layer, int least_bottoms, int most_bottoms, int tops) {
  const caffe_files::LayerParameter& p = layer.parameter;
  if (p.bottom_size() < least_bottoms || p.bottom_size() > most_bottoms) {
    refuse_field(layer, "bottom", 0,
                 fmt::format("has {} bottoms; a layer of type {} reads {}{}", p.bottom_size(), p.type(),
                             least_bottoms, most_bottoms > least_bottoms ? " or more" : ""),
                 "bottom: \"data\"", report_);
  } else if (tops >= 0 && p.top_size() != tops) {
    refuse_field(layer, "top", tops, fmt::format("has {} tops; it must have {}", p.top_size(), tops),
                 "top: \"conv1\"", report_);
  } else {
    return true;
  }
  set_tops(layer, BlobKind::unknown);
  return false;
}

bool BlobTable::check_readable(const LocatedLayer& layer, int index, const CaffeBlob& blob) {
  const std::string shown = printable(layer.parameter.bottom(index), 60);
  std::string what;
  if (blob.kind == BlobKind::unknown) return false;
  if (blob.kind == BlobKind::labels) {
    what = fmt::format("reads '{}', which are labels", shown);
  } else if (blob.kind == BlobKind::observed) {
    what = fmt::format("reads '{}' of {}, after which ddl-train computes nothing", shown,
                       printable(blob.maker, 60));
  } else if (spent_.contains(layer.parameter.bottom(index))) {
    what = fmt::format("reads '{}', a batch norm that another Scale layer has scaled", shown);
  } else {
    return true;
  }
  refuse_field(layer, "bottom", index, what, "bottom: \"data\"", report_);
  return false;
}

}  // namespace ddlrun::runtime
