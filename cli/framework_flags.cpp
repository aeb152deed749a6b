// SPDX-License-Identifier: MIT
#include "cli/framework_flags.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace ddlrun::cli {

namespace {

using frameworks::HorovodKey;
using frameworks::HorovodKind;

// --autotune and --no-autotune: the later one counts.
void add_horovod_switch(CLI::App& app, FrameworkOptions& options, const HorovodKey& key) {
  const std::string flag(key.flag), name = frameworks::key_name(key);
  const std::string off = "--no-" + flag.substr(2);
  // horovodrun's own word
  const std::string names = off == "--no-log-with-timestamp" ? off + ",--log-without-timestamp" : off;
  const auto set = [&options, name](const std::string& typed, const char* value) {
    options.horovod[name] = {value, typed};
  };
  app.add_flag_callback(
         flag, [set, flag] { set(flag, "true"); }, std::string(key.help))
      ->group("Horovod");
  app.add_flag_callback(names, [set, off] { set(off, "false"); })->group("Horovod");
}

void add_horovod_options(CLI::App& app, FrameworkOptions& options) {
  app.add_option("--horovod-config", options.horovod_config, "horovodrun's YAML file; flags win")
      ->group("Horovod");
  for (const HorovodKey& key : frameworks::horovod_keys()) {
    if (key.kind == HorovodKind::yes_no || key.kind == HorovodKind::no_yes) {
      add_horovod_switch(app, options, key);
      continue;
    }
    const std::string flag(key.flag), name = frameworks::key_name(key);
    const auto take = [&options, flag, name](const std::string& text) {
      options.horovod[name] = {text, flag};
    };
    app.add_option_function<std::string>(flag, take, std::string(key.help))->group("Horovod");
  }
}

}  // namespace

void add_framework_options(CLI::App& app, FrameworkOptions& options) {
  const auto add = [&](const char* flag, std::string& text, const char* help) {
    app.add_option(flag, text, help)->group("Frameworks");
  };
  add("--framework", options.framework,
      "auto (arguments and script tell), caffe-ddl, ddl, intel-caffe, horovod, pytorch, tensorflow, "
      "tensorflow-ps, "
      "none");
  add("--np", options.np, "so many ranks over all hosts; -N: so many here, without other hosts");
  add("--master-port", options.master_port, "PyTorch: where the ranks meet on rank 0's host (a free one)");
  add("--ddl-mode", options.ddl_mode,
      "DDL: letter of -mode in DDL_OPTIONS: b, n, r, m, p or c, as IBM's ddlrun -m");
  app.add_option("--ddl-arg", options.ddl_arguments, "DDL: more for DDL_OPTIONS: --ddl-arg='-dump_iter 100'")
      ->allow_extra_args(false)
      ->group("Frameworks");
  add("--ps", options.ps, "TensorFlow: so many parameter servers, instead of DIMS");
  add("--workers", options.workers,
      "TensorFlow: so many workers, each with a GPU of its own where hosts have GPUs");
  app.add_flag("--chief", options.chief,
               "TensorFlow: one task more, the coordinator that ParameterServerStrategy needs")
      ->group("Frameworks");
  add("--base-port", options.base_port, "TensorFlow: the first port on each host (2222)");
  add("--tf-style", options.tf_style,
      "config (TF_CONFIG) or flags (--ps_hosts= --worker_hosts= --job_name= --task_index=)");
  add_horovod_options(app, options);
}

}  // namespace ddlrun::cli
