// SPDX-License-Identifier: MIT
// Reads the files of --solver and --net FILE.prototxt.
#pragma once

#include "runtime/caffe/caffe_net.hpp"
#include "runtime/caffe/caffe_solver.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct CaffeRun {
  std::optional<CaffeSolver> solver;
  std::optional<CaffeNet> net;  // empty: --net names another kind of net
  std::vector<Message> notes;
};

bool is_prototxt(const std::string& name);

// `solver_file`: "" for none. `net_file`: a prototxt that takes the location of the solver's net; "": the
// solver's. `with_net` false: the solver alone is read. A net that the solver names is looked for as Caffe
// does, from the working directory, and then beside the solver. Throws one Error(request) with all errors
// of all files.
CaffeRun read_caffe_run(const std::string& solver_file, const std::string& net_file, bool with_net = true);

}  // namespace ddlrun::runtime
