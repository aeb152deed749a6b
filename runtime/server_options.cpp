// SPDX-License-Identifier: MIT
#include "runtime/server_options.hpp"

#include "base/error.hpp"
#include "runtime/options.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {
namespace {

using Written = const std::string&;

const OptionRow server_option_rows[] = {
    {"", "", "Parameter servers, instead of sums over the ranks:", nullptr},
    {"--servers", "N",
     "the last N ranks are parameter servers: they hold the weights in shards and train nothing; the others "
     "are workers, which push gradients and pull weights (default 0: none)",
     [](TrainOptions& o, Written n, Written v) { o.servers = parse_count(n, v, 0, most_allowed); }},
    {"--async", "",
     "workers do not wait for each other: each push updates the weights at once, with the rate of --lr as "
     "written; late gradients act like momentum, so try --momentum 0",
     [](TrainOptions& o, Written, Written) { o.asynchronous = true; }},
    {"--staleness", "N", "with --async: no worker gets more than N steps ahead of the slowest (default: any)",
     [](TrainOptions& o, Written n, Written v) { o.staleness = parse_count(n, v, 0, most_allowed); }},
};

Error refuse_server_options(std::string what, std::string hint) {
  return {ErrorKind::usage, {std::move(what), "command line", std::move(hint)}};
}

// Options that say how ranks add up, or what only that can do.
std::vector<std::string> find_strangers(const TrainOptions& options) {
  std::vector<std::string> found;
  if (options.overlap != Overlap::automatic) found.emplace_back("--overlap");
  if (options.bucket_kb != 0) found.emplace_back("--bucket-kb");
  if (options.update != UpdatePlace::automatic) found.emplace_back("--update");
  if (options.wire != "float32") found.emplace_back("--wire");
  if (options.images.split != SplitBy::none) found.emplace_back("--data-split");
  if (options.lms_kb) found.emplace_back("--lms");
  return found;
}

}  // namespace

std::span<const OptionRow> server_rows() { return server_option_rows; }

void check_server_options(const TrainOptions& options) {
  if (options.asynchronous && options.servers == 0) {
    throw refuse_server_options(
        "--async needs parameter servers, through which workers learn from each other",
        "--servers 1 --async");
  }
  if (options.staleness && !options.asynchronous) {
    throw refuse_server_options("--staleness bounds how far workers get ahead, and without --async none does",
                                "--servers 1 --async --staleness " + std::to_string(*options.staleness));
  }
  if (options.servers == 0) return;
  for (const std::string& option : find_strangers(options)) {
    throw refuse_server_options(option + " is not for runs with parameter servers",
                                "--servers without " + option + ", or " + option + " without --servers");
  }
}

}  // namespace ddlrun::runtime
