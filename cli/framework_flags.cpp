// SPDX-License-Identifier: MIT
#include "cli/framework_flags.hpp"

#include "cli/option_group.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace ddlrun::cli {

using namespace launch;

namespace {

using frameworks::HorovodKey;
using frameworks::HorovodKind;

std::string value_name(HorovodKind kind) {
  switch (kind) {
    case HorovodKind::megabytes:
    case HorovodKind::number:
    case HorovodKind::count:
    case HorovodKind::share:
      return "N";
    case HorovodKind::text:
      return "FILE";
    case HorovodKind::level:
      return "LEVEL";
    case HorovodKind::cores:
      return "LIST";
    case HorovodKind::yes_no:
    case HorovodKind::no_yes:
      break;
  }
  return "yes|no";
}

// --autotune and --no-autotune: the later one counts.
void add_horovod_switch(CLI::App& app, FrameworkFlags& flags, const HorovodKey& key) {
  const std::string flag(key.flag), name = frameworks::key_name(key);
  const std::string off = "--no-" + flag.substr(2);
  // horovodrun's own name
  const std::string names = off == "--no-log-with-timestamp" ? off + ",--log-without-timestamp" : off;
  const auto set = [&flags, name](const std::string& typed, const char* value) {
    flags.horovod[name] = {value, typed};
  };
  app.add_flag_callback(
         flag, [set, flag] { set(flag, "true"); }, std::string(key.help))
      ->group("Horovod");
  app.add_flag_callback(
         names, [set, off] { set(off, "false"); }, "the opposite of " + flag)
      ->group("Horovod");
}

void add_horovod_options(CLI::App& app, FrameworkFlags& flags) {
  app.add_option("--horovod-config", flags.horovod_config, "horovodrun's YAML file; flags override it")
      ->type_name("FILE")
      ->group("Horovod");
  for (const HorovodKey& key : frameworks::horovod_keys()) {
    if (key.kind == HorovodKind::yes_no || key.kind == HorovodKind::no_yes) {
      add_horovod_switch(app, flags, key);
      continue;
    }
    const std::string flag(key.flag), name = frameworks::key_name(key);
    const auto take = [&flags, flag, name](const std::string& text) { flags.horovod[name] = {text, flag}; };
    app.add_option_function<std::string>(flag, take, std::string(key.help))
        ->type_name(value_name(key.kind))
        ->group("Horovod");
  }
}

}  // namespace

void add_framework_options(CLI::App& app, FrameworkFlags& flags) {
  OptionGroup(app, "Frameworks")
      .option("--framework", flags.framework, "NAME",
              "auto (from arguments and script), caffe-ddl, ddl, intel-caffe, horovod, pytorch, tensorflow, "
              "tensorflow-ps or none")
      .option("--master-port", flags.master_port, "PORT",
              "PyTorch: rendezvous port on rank 0's host; default: a free port")
      .option("--ddl-mode", flags.ddl_mode, "LETTER",
              "DDL: the letter of -mode in DDL_OPTIONS: b, n, r, m, p or c, as -m of IBM's ddlrun")
      .repeatable("--ddl-arg", flags.ddl_arguments, "ARG",
                  "DDL: append to DDL_OPTIONS: --ddl-arg='-dump_iter 100'")
      .option("--ps", flags.ps, "N", "TensorFlow: N parameter servers, instead of DIMS")
      .option("--workers", flags.workers, "N",
              "TensorFlow: N workers, each with its own GPU where hosts have GPUs")
      .flag("--chief", flags.chief, "TensorFlow: add the coordinator task that ParameterServerStrategy needs")
      .option("--base-port", flags.base_port, "PORT", "TensorFlow: first port on each host (2222)")
      .option("--tf-style", flags.tf_style, "STYLE",
              "config: TF_CONFIG; flags: --ps_hosts= --worker_hosts= --job_name= --task_index=");
  add_horovod_options(app, flags);
}

}  // namespace ddlrun::cli
