// SPDX-License-Identifier: MIT
#include "runtime/app/server_options.hpp"

#include "base/text/error.hpp"
#include "runtime/core/option_parser.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {
namespace {

using Written = const std::string&;

const OptionRow server_option_rows[] = {
    {"", "", "Parameter servers (instead of all-reduce):", nullptr},
    {"--parameter-servers", "N",
     "make the last N ranks parameter servers, each with a shard of the weights; the other ranks are workers "
     "that push gradients and pull weights (default 0)",
     [](TrainOptions& o, Written n, Written v) { o.parameter_servers = parse_count(n, v, 0, max_count); }},
    {"--async", "",
     "workers do not wait for each other: each push updates the weights at once with --lr, unscaled; late "
     "gradients act like momentum, so try --momentum 0",
     [](TrainOptions& o, Written, Written) { o.asynchronous = true; }},
    {"--staleness", "N",
     "with --async: at most N steps between the fastest and the slowest worker (default: any)",
     [](TrainOptions& o, Written n, Written v) { o.staleness = parse_count(n, v, 0, max_count); }},
};

Error refuse_server_options(std::string what, std::string hint) {
  return {ErrorKind::usage, {std::move(what), "command line", std::move(hint)}};
}

// Options of training by all-reduce, which parameter servers do not support.
std::vector<std::string> find_unsupported(const TrainOptions& options) {
  std::vector<std::string> found;
  if (options.overlap != Overlap::automatic) found.emplace_back("--overlap");
  if (options.bucket_kb != 0) found.emplace_back("--bucket-kb");
  if (options.optimizer_placement != OptimizerPlacement::automatic)
    found.emplace_back("--optimizer-placement");
  if (options.grad_dtype != "float32") found.emplace_back("--grad-dtype");
  if (options.images.sharding != ShardBy::none) found.emplace_back("--data-sharding");
  if (options.lms_kb) found.emplace_back("--lms");
  return found;
}

}  // namespace

std::span<const OptionRow> server_rows() { return server_option_rows; }

void check_server_options(const TrainOptions& options) {
  if (options.asynchronous && options.parameter_servers == 0) {
    throw refuse_server_options("--async needs parameter servers", "--parameter-servers 1 --async");
  }
  if (options.staleness && !options.asynchronous) {
    throw refuse_server_options(
        "--staleness needs --async: synchronous workers never get ahead",
        "--parameter-servers 1 --async --staleness " + std::to_string(*options.staleness));
  }
  if (options.parameter_servers == 0) return;
  for (const std::string& option : find_unsupported(options)) {
    throw refuse_server_options(option + " cannot be used with --parameter-servers",
                                "the same command without " + option);
  }
}

}  // namespace ddlrun::runtime
