// SPDX-License-Identifier: MIT
// Caffe's train_val.prototxt as a value: what its TRAIN phase computes, and where both phases take their
// images.
#pragma once

#include "runtime/caffe/caffe_data.hpp"
#include "runtime/caffe/caffe_report.hpp"
#include "runtime/models/net.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

struct CaffeNet {
  NetDescription net;
  std::optional<CaffeData> train_data;
  std::optional<CaffeData> test_data;
};

// Where a net is written: alone in `file`, or inside a solver.
struct CaffeNetText {
  std::string_view text;
  std::string file;
};

// Pure. `text` is a net; with `test`, that has the TEST phase, else `text` has both.
CaffeNet parse_caffe_net(const CaffeNetText& text, const CaffeNetText* test, CaffeReport& report);
// The nets written in a solver's net_param, train_net_param and test_net_param, and the states that choose
// layers. `net`, `test`: the files that it names; nullptr where it names none.
CaffeNet parse_caffe_net_of_solver(const CaffeNetText& solver, const CaffeNetText* net,
                                   const CaffeNetText* test, CaffeReport& report);

// plan_net(), and what only Caffe's nets can have wrong: logits of more than one location.
Net plan_caffe_net(const CaffeNet& net, Shape input, int classes);

}  // namespace ddlrun::runtime
