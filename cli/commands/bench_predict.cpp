// SPDX-License-Identifier: MIT
#include "cli/commands/bench_predict.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "bench/predict/forecast.hpp"
#include "bench/predict/measure_profile.hpp"
#include "bench/scaling/busy_cores.hpp"
#include "launch/plan/choose_program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::cli {

using namespace bench_predict;

namespace {

constexpr std::uint64_t most_saved_bytes = 256u << 20;

[[noreturn]] void refuse_predict(const std::string& what, const std::string& where, const std::string& hint) {
  throw Error(ErrorKind::usage, {what, where, hint});
}

std::size_t whole_number(const std::string& text, const std::string& name, std::uint64_t most) {
  const auto number = parse_unsigned(text, most);
  if (!number || *number == 0)
    refuse_predict(fmt::format("'{}' is no number from 1 to {}", printable(text, 40), most), name,
                   name + " 64");
  return static_cast<std::size_t>(*number);
}

// Whether the options of ddl-train set 16 bits for gradients between hosts.
bool wants_narrow(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool apart = words[i] == "--grad-dtype" && i + 1 < words.size();
    if (!apart && !words[i].starts_with("--grad-dtype=")) continue;
    const std::string_view value =
        apart ? std::string_view(words[i + 1]) : std::string_view(words[i]).substr(13);
    return value == "bf16" || value == "fp16" || value == "bfloat16" || value == "float16";
  }
  return false;
}

StepProfile profile_of_typed_step(const PredictFlags& flags, int ranks_a_host) {
  const auto step = parse_number(flags.step_ms);
  if (!step || *step <= 0.0)
    refuse_predict(fmt::format("'{}' is no positive number of milliseconds", printable(flags.step_ms, 40)),
                   "--step-ms", "--step-ms 12.5 --parameters 25600000 --images 32");
  if (flags.parameters.empty() || flags.images.empty())
    refuse_predict("a step also needs the parameters of the net and the images of a rank", "--step-ms",
                   fmt::format("--step-ms {} --parameters 25600000 --images 32", flags.step_ms));
  BareStep bare;
  bare.net = "a net";
  bare.source = fmt::format("--step-ms {}", flags.step_ms);
  bare.ranks_a_host = ranks_a_host;
  bare.images = whole_number(flags.images, "--images", 1U << 30U);
  bare.parameters = whole_number(flags.parameters, "--parameters", std::uint64_t{1} << 40U);
  bare.compute_ms = bare.one_rank_step_ms = *step;
  return spread_step(bare);
}

// A document of ours, or the metrics of a run; `ranks` 0: none given.
StepProfile read_saved(System& system, const PredictFlags& flags, int ranks) {
  const std::string text = system.files.read(flags.from, most_saved_bytes);
  const std::string where = "--from " + printable(flags.from);
  if (!text.starts_with("{\"type\":")) return parse_saved_profile(text, ranks, where);
  StepProfile profile = read_profile(
      text, flags.timeline.empty() ? "" : system.files.read(flags.timeline, most_saved_bytes), where);
  return profile;
}

MeasureRequest measure_request(const PredictCommand& command, int ranks_a_host) {
  MeasureRequest request;
  request.ranks_a_host = ranks_a_host;
  if (ranks_a_host > command.cores) {
    throw Error(
        ErrorKind::request,
        {fmt::format("{} ranks on a host need as many cores, here are {}", ranks_a_host, command.cores),
         "--ranks-per-host",
         fmt::format("--ranks-per-host {}, or --from FILE of a run elsewhere", command.cores)});
  }
  request.cores_a_rank = command.cores / ranks_a_host;
  request.cores_given = !command.launch.plan.cores_per_rank.empty();
  request.launch_options = command.launch_words;
  request.trainer_words = predict_trainer_words(command.launch.program);
  return request;
}

struct FoundNetwork {
  Network network;
  std::string text;
  double error = 0.0;
};

FoundNetwork network_from_sums(const MeasuredSums& measured, const std::string& of) {
  const FittedNetwork fitted = fit_network(measured.sums, measured.shape);
  return {fitted.network,
          fmt::format("{}: {:.4g} MB/s, {:.3g} us, {:.3g} us a message, fitted within {:.0f} %", of,
                      fitted.network.bytes_per_second / 1e6, fitted.network.latency_s * 1e6,
                      fitted.network.message_s * 1e6, 100.0 * fitted.error),
          fitted.error};
}

FoundNetwork find_network(System& system, const PredictCommand& command, const Command& measuring) {
  const std::string& given = command.flags.network;
  if (!measuring.empty())
    return network_from_sums(measure_network(system, measuring), "of " + command.flags.network_hosts);
  if (given.ends_with(".json"))
    return network_from_sums(
        parse_measured_sums(system.files.read(given, most_saved_bytes), "--network " + printable(given)),
        "of " + given);
  return {parse_network(given), given, 0.0};
}

void check_sources(const PredictCommand& command) {
  const PredictFlags& flags = command.flags;
  if (command.launch.hosts_option.empty())
    refuse_predict("the numbers of hosts are missing", "ddlrun bench predict",
                   "ddlrun bench predict --hosts 1-16 --network 10Gbit/s,20us");
  if (flags.network.empty() == flags.network_hosts.empty())
    refuse_predict(flags.network.empty() ? "the network is missing" : "the network is given twice",
                   "ddlrun bench predict",
                   "--network 10Gbit/s,20us   # or --network-hosts h1,h2, which measures it");
  if (!flags.from.empty() && !flags.step_ms.empty())
    refuse_predict("the step is given twice", "--from, --step-ms", "--from " + quote_shell(flags.from));
  if (flags.step_ms.empty() && !(flags.parameters + flags.images).empty())
    refuse_predict("they describe the step of --step-ms", "--parameters, --images",
                   "--step-ms 12.5 --parameters 25600000 --images 32");
  if (!flags.timeline.empty() && flags.from.empty())
    refuse_predict("a timeline belongs to the metrics of a run", "--timeline",
                   "--from run.jsonl --timeline " + quote_shell(flags.timeline));
  if (!command.launch.dims.empty())
    refuse_predict("predict takes no DIMS and no names of hosts", printable(command.launch.dims, 40),
                   "ddlrun bench predict --hosts 1-16 --ranks-per-host 4 --network 10Gbit/s,20us");
  if (command.json == "-" && command.svg == "-")
    refuse_predict("--json - and --svg - both write to stdout: use one", "", "--svg forecast.svg");
}

}  // namespace

void add_predict_options(CLI::App& app, PredictFlags& flags) {
  app.add_option("--network", flags.network,
                 "predict: bandwidth and latency such as 10Gbit/s,20us, or the JSON of `bench allreduce` on "
                 "two hosts or more")
      ->type_name("NET");
  app.add_option("--network-hosts", flags.network_hosts, "predict: measure the network between these hosts")
      ->type_name("LIST");
  app.add_option("--from", flags.from,
                 "predict: measure nothing; the step is in the JSON of `bench predict` or `bench scaling`, "
                 "or in a run's --metrics")
      ->type_name("FILE");
  app.add_option("--timeline", flags.timeline, "predict: the --timeline of the run whose metrics are --from")
      ->type_name("FILE");
  app.add_option("--step-ms", flags.step_ms,
                 "predict: measure nothing; a step of one rank takes MS milliseconds")
      ->type_name("MS");
  app.add_option("--parameters", flags.parameters, "predict: of the net, with --step-ms")->type_name("N");
  app.add_option("--images", flags.images, "predict: of a rank and step, with --step-ms")->type_name("N");
}

bool has_predict_options(const PredictFlags& flags) {
  return !(flags.network + flags.network_hosts + flags.from + flags.timeline + flags.step_ms +
           flags.parameters + flags.images)
              .empty();
}

int run_bench_predict(System& system, const PredictCommand& command) {
  check_sources(command);
  const PredictFlags& flags = command.flags;
  ForecastRequest request;
  request.hosts = parse_host_counts(command.launch.hosts_option);
  const std::string& ranks_word = command.launch.ranks_per_host;
  const int ranks =
      ranks_word.empty() ? 0 : static_cast<int>(whole_number(ranks_word, "--ranks-per-host", 1U << 16U));
  if (!command.launch.hosts_per_rack.empty())
    request.hosts_per_rack =
        static_cast<int>(whole_number(command.launch.hosts_per_rack, "--hosts-per-rack", 1U << 20U));
  request.narrow = wants_narrow(command.launch.program);
  if (flags.network_hosts.empty() && !flags.network.ends_with(".json"))
    parse_network(flags.network);  // before runs
  const bool measures = flags.from.empty() && flags.step_ms.empty();
  const MeasureRequest measuring = measures ? measure_request(command, std::max(1, ranks)) : MeasureRequest{};
  const Command network = flags.network_hosts.empty()
                              ? Command{}
                              : network_command(system.environment, expand_host_list(flags.network_hosts),
                                                command.launch_words, command.ddl_bench);
  if (command.launch.dry_run) {
    if (!network.empty()) system.out(render_shell(network) + "\n");
    if (measures)
      for (const Command& each : profile_commands(system.environment, measuring, "/tmp/ddlrun-predict"))
        system.out(render_shell(each) + "\n");
    return 0;
  }
  // What is read comes first: it may be the file that is written.
  FoundNetwork found;
  if (network.empty()) found = find_network(system, command, network);
  if (!measures)
    request.profile = flags.from.empty() ? profile_of_typed_step(flags, std::max(1, ranks))
                                         : read_saved(system, flags, ranks);
  for (const std::string& file : {command.json, command.svg})
    if (!file.empty() && file != "-" && (measures || !network.empty())) system.files.write(file, "");
  if (!network.empty()) found = find_network(system, command, network);
  request.network = found.network;
  request.network_text = found.text;
  request.network_error = found.error;
  if (measures) {
    launch::check_not_root(system.environment, command.launch.allow_run_as_root);
    bench_report::warn_if_busy(system, command.cores);
    request.profile = measure_profile(system, measuring);
  }
  request.ranks_a_host = ranks == 0 ? request.profile.ranks_a_host : ranks;
  const Forecast forecast = make_forecast(request);
  const std::string json = render_forecast_json(forecast);
  const std::string svg = render_forecast_svg(forecast);
  system.out(command.json == "-" ? json : command.svg == "-" ? svg : render_forecast_table(forecast));
  if (!command.json.empty() && command.json != "-") system.files.write(command.json, json);
  if (!command.svg.empty() && command.svg != "-") system.files.write(command.svg, svg);
  return 0;
}

}  // namespace ddlrun::cli
