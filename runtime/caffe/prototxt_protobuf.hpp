// SPDX-License-Identifier: MIT
// Protobuf's text format with places: text → message, and where each field of it is written.
#pragma once

#include "runtime/caffe/caffe_report.hpp"

#include <caffe.pb.h>
#include <google/protobuf/text_format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

// A location in a file, and the way to the places inside it.
class PrototxtLocation {
 public:
  using Tree = google::protobuf::TextFormat::ParseInfoTree;

  PrototxtLocation() = default;
  PrototxtLocation(std::string file, const Tree* tree, const google::protobuf::Descriptor* type);

  std::string text() const;  // "FILE:LINE:COLUMN"; the file alone for the whole of it
  const std::string& file() const { return file_; }
  // Of a field, or of one of its values; this location itself if the field is not written.
  PrototxtLocation at(const std::string& field, int index = 0) const;

 private:
  std::string file_;
  const Tree* tree_ = nullptr;
  const google::protobuf::Descriptor* type_ = nullptr;
  int line_ = 0;  // from 1; 0: none
  int column_ = 0;
};

// A parsed file. Names that Caffe does not know, and values that are known but cannot be met, go into
// `report`. Throws Error(request) where the text is no prototxt.
template <typename Parameter>
struct Prototxt {
  Parameter parameter;
  PrototxtLocation::Tree tree;
  PrototxtLocation location;

  Prototxt(std::string_view text, const std::string& file, CaffeReport& report);
};
using SolverPrototxt = Prototxt<caffe_files::SolverParameter>;
using NetPrototxt = Prototxt<caffe_files::NetParameter>;

// Guesses whether a text is a net or a solver from fields that only one of them has.
struct PrototxtGuess {
  std::size_t layers = 0;
  bool has_rate = false;

  bool is_net() const { return layers > 0 && !has_rate; }
  bool is_solver() const { return layers == 0 && has_rate; }
};
PrototxtGuess guess_prototxt(std::string_view text);

// Refuses each field that is set to something other than Caffe's default and that ddl-train does not honour;
// counts those that change no result.
void check_known_fields(const google::protobuf::Message& message, const PrototxtLocation& location,
                        const std::string& owner, CaffeReport& report);

// The number that is meant by a float's shortest decimal: 0.01, not 0.00999999977648.
double widen(float value);

}  // namespace ddlrun::runtime
