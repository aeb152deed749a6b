// SPDX-License-Identifier: MIT
// The images of a Caffe net: location, batch size and transform.
#pragma once

#include "runtime/models/layer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

enum class CaffeSource {
  lmdb,       // a directory with data.mdb
  leveldb,    // a directory of another library
  list,       // a file, "path label" a line
  invented,   // DummyData: a shape only
  described,  // Input: a shape at most
  other,      // HDF5Data and the like
};

// Caffe's order: cropped (by chance when training, in the middle when testing), mirrored by chance, less the
// mean, then times the scale.
struct CaffeTransform {
  double scale = 1.0;
  bool mirror = false;
  Sides crop;                       // 0: as they are
  std::string mean_file;            // a BlobProto; "": none
  std::vector<double> mean_values;  // none, one for all channels, or one a channel
};

struct CaffeData {
  CaffeSource kind = CaffeSource::described;
  std::string type;            // the layer's: "Data"
  std::string location;        // the layer's, for messages
  std::string source;          // as written: relative to the working directory
  std::string root_directory;  // list: what each path begins with
  int batch_size = 0;          // of one rank; 0: not set
  bool shuffle = false;        // each epoch in another order
  int channels = 0;            // of decoded images; 0: as they are
  Sides resize;                // of decoded images; 0: as they are
  std::optional<Shape> shape;  // of one image, if the net has it
  CaffeTransform transform;
};

std::string_view name_of(CaffeSource kind);  // "LMDB", for messages

}  // namespace ddlrun::runtime
