// SPDX-License-Identifier: MIT
// Caffe's files as tests write them.
#pragma once

#include "runtime/caffe/caffe_run.hpp"

#include <doctest/doctest.h>

#include <string>

namespace ddlrun::runtime {

inline std::string prototxt_file(const std::string& name) {
  return std::string(DDLRUN_TEST_DATA) + "/../golden/prototxt/" + name;
}
inline std::string example_file(const std::string& name) {
  return std::string(DDLRUN_TEST_DATA) + "/../../examples/caffe/" + name;
}

// A net around `layers`, which read "data" and make "ip".
inline std::string net_with(const std::string& layers) {
  return "layer { name: \"in\" type: \"Input\" top: \"data\" top: \"label\" }\n" + layers +
         "\nlayer { name: \"ip\" type: \"InnerProduct\" bottom: \"top\" top: \"ip\" inner_product_param { "
         "num_output: 10 weight_filler { type: \"xavier\" } } }\n"
         "layer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"ip\" bottom: \"label\" top: \"loss\" "
         "}\n";
}

inline CaffeNet parse_net_text(const std::string& text, CaffeReport& report) {
  return parse_caffe_net({text, "net.prototxt"}, nullptr, report);
}
// Without any each.
inline CaffeNet parse_good_net(const std::string& text) {
  CaffeReport report;
  CaffeNet net = parse_net_text(text, report);
  for (const Message& each : report.errors) FAIL_CHECK(each.where, ": ", each.what);
  return net;
}

// All errors as "PLACE WHAT" lines.
inline std::string list_errors(const CaffeReport& report) {
  std::string text;
  for (const Message& each : report.errors) {
    CHECK(!each.hint.empty());
    text += each.where + " " + each.what + "\n";
  }
  return text;
}
inline std::string find_net_errors(const std::string& text) {
  CaffeReport report;
  try {
    parse_net_text(text, report);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::request);
    return error.message().where + " " + error.message().what + "\n";
  }
  return list_errors(report);
}

}  // namespace ddlrun::runtime
