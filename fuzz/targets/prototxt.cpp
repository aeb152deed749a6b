// SPDX-License-Identifier: MIT
// Caffe's nets and solvers: every refusal is a message with its place.
#include "fuzz/fuzz_target.hpp"
#include "runtime/caffe/caffe_net.hpp"
#include "runtime/caffe/caffe_report.hpp"
#include "runtime/caffe/caffe_solver.hpp"

using namespace ddlrun;
using namespace ddlrun::runtime;

DDLRUN_FUZZ_TARGET(prototxt) {
  CaffeReport of_solver, of_net;
  fuzz::accepted([&] { return parse_caffe_solver(input, "solver.prototxt", of_solver); });
  const CaffeNetText text{input, "net.prototxt"};
  const auto net = fuzz::accepted([&] { return parse_caffe_net(text, nullptr, of_net); });
  for (const CaffeReport* report : {&of_solver, &of_net}) {
    for (const Message& error : report->errors) fuzz::require_message(error);
    for (const Message& note : report->notes) fuzz::require_printable(note.what + note.where + note.hint);
  }
  if (net && of_net.errors.empty()) fuzz::accepted([&] { return plan_caffe_net(*net, {3, 32, 32}, 10); });
}
