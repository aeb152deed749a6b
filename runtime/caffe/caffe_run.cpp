// SPDX-License-Identifier: MIT
#include "runtime/caffe/caffe_run.hpp"

#include "base/text/text.hpp"
#include "runtime/core/gzip.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <utility>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t largest_prototxt = std::size_t{4} << 20U;

struct PrototxtText {
  std::string text;
  std::string file;

  CaffeNetText view() const { return {text, file}; }
};

PrototxtText read_prototxt(const std::string& file) {
  try {
    const auto bytes = read_data_file(file, largest_prototxt);
    return {{bytes.begin(), bytes.end()}, file};
  } catch (const Error& error) {
    Message message = error.message();
    message.hint = "ddl-train --solver examples/caffe/lenet_solver.prototxt   # or the path of yours";
    throw Error(error.kind(), std::move(message));
  }
}

// A net that a solver names.
PrototxtText read_named_net(const std::string& name, const std::string& solver_file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists(name, ignored) || name.starts_with('/')) return read_prototxt(name);
  const std::string directory = solver_file.substr(0, solver_file.rfind('/') + 1);
  const std::string beside = directory + name;
  if (fs::exists(beside, ignored)) return read_prototxt(beside);
  // Caffe's own examples name nets from the top of its tree, which may have been left behind.
  const std::string same_directory = directory + name.substr(name.rfind('/') + 1);
  if (fs::exists(same_directory, ignored)) return read_prototxt(same_directory);
  throw Error(ErrorKind::request,
              {fmt::format("the solver names the net {}, which exists neither there nor beside the solver",
                           printable(name)),
               printable(solver_file), "ddl-train --solver FILE --net FILE.prototxt"});
}

CaffeNet read_net_of_solver(const PrototxtText& solver, const CaffeSolver& parsed, CaffeReport& report) {
  std::optional<PrototxtText> net;
  std::optional<PrototxtText> test;
  if (!parsed.net.empty()) net = read_named_net(parsed.net, solver.file);
  if (!parsed.test_net.empty()) test = read_named_net(parsed.test_net, solver.file);
  const CaffeNetText net_view = net ? net->view() : CaffeNetText{};
  const CaffeNetText test_view = test ? test->view() : CaffeNetText{};
  return parse_caffe_net_of_solver(solver.view(), net ? &net_view : nullptr, test ? &test_view : nullptr,
                                   report);
}

}  // namespace

bool is_prototxt(const std::string& name) { return name.ends_with(".prototxt") || name.ends_with(".pbtxt"); }

CaffeRun read_caffe_run(const std::string& solver_file, const std::string& net_file, bool with_net) {
  CaffeRun run;
  CaffeReport report;
  std::optional<PrototxtText> solver;
  if (!solver_file.empty()) {
    solver = read_prototxt(solver_file);
    run.solver = parse_caffe_solver(solver->text, solver_file, report);
    run.notes = report.all_notes(printable(solver_file));
    report.notes.clear();
    report.unused.clear();
  }
  if (!net_file.empty()) {
    const PrototxtText net = read_prototxt(net_file);
    run.net = parse_caffe_net(net.view(), nullptr, report);
  } else if (solver && with_net && (report.errors.empty() || !run.solver->net.empty())) {
    run.net = read_net_of_solver(*solver, *run.solver, report);
  }
  report.check();
  std::vector<Message> of_net = report.all_notes(run.net ? run.net->net.location : "");
  run.notes.insert(run.notes.end(), std::make_move_iterator(of_net.begin()),
                   std::make_move_iterator(of_net.end()));
  return run;
}

}  // namespace ddlrun::runtime
