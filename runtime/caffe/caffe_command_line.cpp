// SPDX-License-Identifier: MIT
#include "runtime/caffe/caffe_command_line.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {
namespace {

// What Caffe's command line had besides; gflags takes them with one dash and with two.
struct CaffeFlag {
  const char* name;
  const char* meaning;
  const char* ours;
};
constexpr CaffeFlag caffe_flags[] = {
    {"gpu", "names GPUs", "--device cuda   # CUDA_VISIBLE_DEVICES=0,1 before it chooses among them"},
    {"snapshot", "names a .solverstate", "--resume DIR   # the directory given to --checkpoint"},
    {"weights", "names a .caffemodel, which ddl-train does not read",
     "--resume FILE   # a checkpoint of ddl-train's"},
    {"model", "names a net", "--net FILE.prototxt"},
    {"iterations", "counts steps", "--max-steps 50"},
    {"sigint_effect", "sets the effect of a signal", "--checkpoint DIR   # TERM and USR1 save and stop"},
    {"sighup_effect", "sets the effect of a signal", "--checkpoint DIR   # TERM and USR1 save and stop"},
    {"phase", "chooses a net's phase", "--solver FILE   # trains, and tests as test_interval says"},
    {"level", "chooses layers", "train_state { level: 1 }   # in the solver"},
    {"stage", "chooses layers", "train_state { stage: \"name\" }   # in the solver"},
};
constexpr CaffeFlag caffe_actions[] = {
    {"test", "tests a net without training it", "ddl-train test CHECKPOINT --data PATH"},
    {"time", "measures a net", "ddl-train --solver FILE --max-steps 50   # images/s are in its last line"},
    {"device_query", "describes a GPU", "nvidia-smi -L"},
};

// The --model of other trainers, for which the parser of options proposes --net.
bool names_net(std::string_view value) {
  return !value.empty() && !value.ends_with(".prototxt") && !value.ends_with(".pbtxt");
}

void refuse_caffe_words(std::span<const std::string> args) {
  for (const CaffeFlag& action : caffe_actions) {
    if (args.empty() || args.front() != action.name) continue;
    throw Error(ErrorKind::usage,
                {fmt::format("Caffe's '{}' {}; ddl-train trains", action.name, action.meaning),
                 "command line", action.ours});
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::size_t equals = args[i].find('=');
    const std::string option = args[i].substr(0, equals);
    const std::string value = equals != std::string::npos ? args[i].substr(equals + 1)
                              : i + 1 < args.size()       ? args[i + 1]
                                                          : "";
    if (option == "--model" && names_net(value)) continue;
    for (const CaffeFlag& flag : caffe_flags) {
      if (option != fmt::format("-{}", flag.name) && option != fmt::format("--{}", flag.name)) continue;
      throw Error(ErrorKind::usage, {fmt::format("Caffe's option {} {}; ddl-train has another option",
                                                 printable(option), flag.meaning),
                                     "command line", flag.ours});
    }
  }
}

}  // namespace

std::vector<std::string> translate_caffe_args(std::span<const std::string> args) {
  std::vector<std::string> accepted(args.begin(), args.end());
  if (!accepted.empty() && accepted.front() == "train") accepted.erase(accepted.begin());
  refuse_caffe_words(accepted);
  for (std::string& word : accepted) {
    if (word == "-solver" || word.starts_with("-solver=")) word.insert(0, "-");
  }
  return accepted;
}

}  // namespace ddlrun::runtime
