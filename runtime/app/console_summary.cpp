// SPDX-License-Identifier: MIT
#include "runtime/app/console_summary.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/option_warnings.hpp"
#include "runtime/checkpoint/stop_signal.hpp"
#include "runtime/comm/session.hpp"
#include "runtime/data/open_images.hpp"
#include "runtime/telemetry/progress.hpp"
#include "runtime/training/collapse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace ddlrun::runtime {
namespace {

constexpr const char* program_name = "ddl-train";

// "--lr", or why the rate is another: "--lr 0.01 x 2 for 2 ranks, --lr-scale linear".
std::string explain_rate(const TrainOptions& options, const RunFacts& facts) {
  std::string rate = options.solver.empty() ? "--lr" : "base_lr or --lr";
  const OptimizerKind kind = make_optimizer(options).kind;
  if (!options.lr && kind != OptimizerKind::sgd) rate += fmt::format(" for {}", name_of(kind));
  if (facts.lr_peak == facts.lr || facts.lr == 0.0) return rate;
  return fmt::format("{} {:.6g} x {:.6g} for {} ranks, --lr-scale {}", rate, facts.lr,
                     facts.lr_peak / facts.lr, facts.ranks - facts.servers, name_of(lr_scale_of(options)));
}

void print_facts(const TrainOptions& options, const RunFacts& facts) {
  fmt::print(stderr, "data: {} ({}), {} + {} images of {}x{}, {} classes\n", facts.data, facts.data_reason,
             render_thousands(static_cast<double>(facts.train_images)),
             render_thousands(static_cast<double>(facts.test_images)), facts.height, facts.width,
             facts.classes);
  fmt::print(stderr, "net: {}, {} parameters; {}, {} rank(s) x {} thread(s) ({})\n", facts.net,
             render_thousands(static_cast<double>(facts.parameters)), facts.engine, facts.ranks,
             facts.threads, facts.threads_reason);
  fmt::print(stderr,
             "batch: {} = {} {}(s) x {}; learning rate {:.6g} ({}); {} steps, {} images dropped per epoch\n",
             facts.global_batch, facts.ranks - facts.servers, facts.servers == 0 ? "rank" : "worker",
             facts.local_batch, facts.lr_peak, explain_rate(options, facts), facts.total_steps,
             facts.dropped_per_epoch);
}

// What a step is, where a plain one would not be understood from the lines before.
void print_optimizer(const RunSetup& prepared) {
  const TrainPlan& plan = prepared.plan;
  if (plan.optimizer.kind != OptimizerKind::sgd || plan.accumulate > 1) {
    fmt::print(stderr, "optimizer: {}; {} micro-batch(es) per step; learning rate {}\n",
               render_optimizer(plan.optimizer), plan.accumulate, render_decay(plan.schedule));
  }
}

void print_gpu_options(const TrainOptions& options, bool is_cpu) {
  if (options.tf32)
    fmt::print(stderr, "tf32: {}\n", is_cpu ? "ignored with --device cpu" : "products are in TF32");
  if (!options.lms_kb) return;
  if (is_cpu) {
    fmt::print(stderr, "lms: ignored with --device cpu, where all activations are in host memory\n");
  } else {
    fmt::print(stderr, "lms: activations larger than {} kB are kept in host memory\n", *options.lms_kb);
  }
}

void print_servers(const RunSetup& prepared) {
  if (!prepared.roles) return;
  const RunFacts& facts = prepared.facts;
  const int first = facts.ranks - facts.servers;
  const std::string ranks = facts.servers == 1 ? fmt::format("rank {} holds", first)
                                               : fmt::format("ranks {}-{} hold", first, facts.ranks - 1);
  std::string pace = "synchronous: one update per step from all workers";
  if (facts.asynchronous) {
    const std::size_t most = prepared.roles->staleness;
    pace = "asynchronous: each worker at its own pace" +
           (most == SIZE_MAX ? "" : fmt::format(", at most {} step(s) ahead of the slowest", most));
  }
  fmt::print(stderr, "parameter servers: {} the weights; {}\n", ranks, pace);
}

void print_resume(const TrainOptions& options, const RunFacts& facts,
                  const std::optional<ResumePoint>& start) {
  if (!options.resume) return;
  if (!start) {
    if (!options.quiet)
      fmt::print(stderr, "resume: no checkpoint in {} yet, starting a new run\n",
                 printable(options.resume_from));
    return;
  }
  for (const std::string& why : start->skipped) {
    fmt::print(
        stderr, "{}",
        render_message(program_name, "warning",
                       {"a newer checkpoint was skipped", why, "ls -l " + quote_shell(options.resume_from)}));
  }
  if (options.quiet) return;
  fmt::print(stderr, "resume: {}, step {} of {}\n", printable(start->path), start->state.position.step,
             facts.total_steps);
  for (const std::string& one : start->differences) fmt::print(stderr, "resume: changed {}\n", one);
  if (start->state.position.step < facts.total_steps) return;
  fmt::print(stderr, "{}",
             render_message(program_name, "note",
                            {"the checkpoint is at the end of the training; nothing to do",
                             printable(start->path), "larger --epochs or --total-steps"}));
}

// The option that sets the length of this run, with a larger number.
std::string longer_training(const TrainOptions& options, const TrainSummary& summary) {
  constexpr std::size_t usual_epochs = 30;
  constexpr std::size_t longer = 3;
  if (options.max_steps != 0) return fmt::format("--max-steps {}", longer * options.max_steps);
  if (options.total_steps != 0 || !options.solver.empty())
    return fmt::format("--total-steps {}", longer * summary.total_steps);
  return fmt::format("--epochs {}", std::max(usual_epochs, longer * options.epochs));
}

}  // namespace

void print_start(const TrainOptions& options, const CaffeCommand& caffe, const RunSetup& prepared,
                 const std::optional<ResumePoint>& start) {
  if (!options.quiet) {
    fmt::print(stderr, "{}", render_caffe(caffe, program_name, prepared.facts.test_images));
    std::vector<std::string> choices;  // the one for the sizes may end in a comment
    for (const std::string& choice : {prepared.batch_choice, options.choice})
      if (!choice.empty()) choices.push_back(choice);
    if (!choices.empty()) fmt::print(stderr, "images: {}\n", join(choices, "; "));
    print_facts(options, prepared.facts);
    if (!prepared.device.note.empty()) fmt::print(stderr, "device: {}\n", prepared.device.note);
    print_servers(prepared);
    print_optimizer(prepared);
    print_gpu_options(options, prepared.device.name == "cpu");
    const std::string parts = render_subsets(prepared.data);
    if (!parts.empty()) fmt::print(stderr, "{}\n", parts);
    for (const Message& warning : prepared.data.warnings)
      fmt::print(stderr, "{}", render_message(program_name, "warning", warning));
    for (const Message& note : prepared.notes)
      fmt::print(stderr, "{}", render_message(program_name, "note", note));
    if (const auto warning = find_dropped_images(prepared.facts))
      fmt::print(stderr, "{}", render_message(program_name, "warning", *warning));
  }
  print_resume(options, prepared.facts, start);
}

void warn_other_run(const std::string& directory, std::optional<std::size_t> newest) {
  if (!newest) return;
  fmt::print(
      stderr, "{}",
      render_message(program_name, "warning",
                     {fmt::format("the directory holds checkpoints of another run, the newest of step {}; "
                                  "the first save of this run moves them to earlier-N there",
                                  *newest),
                      printable(directory), "--resume to continue from it, or --checkpoint OTHER_DIR"}));
}

void print_end(const TrainOptions& options, const RunFacts& facts, const TrainSummary& summary, bool saved) {
  if (!options.quiet) {
    fmt::print(stderr,
               "done: test accuracy {:.2f} % after {} steps; {} images/s; weights equal on {} rank(s)\n",
               100.0 * summary.last.test_accuracy, summary.steps, render_thousands(summary.images_per_second),
               facts.ranks);
    if (facts.servers != 0) fmt::print(stderr, "parameter servers: {}\n", summary.sums);
  }
  fmt::print("{}\n", options.json ? render_summary_json(facts, summary, saved)
                                  : render_summary_line(facts, summary, saved));
}

void warn_guessing(const TrainOptions& options, const RunSetup& prepared, const TrainSummary& summary) {
  if (options.quiet || summary.last.epoch == 0) return;
  const auto labels = measure_labels(*prepared.data.test_images);
  const int classes = prepared.facts.classes;
  const GuessedTest test{summary.last.test_accuracy, labels ? labels->largest_share : 1.0 / classes,
                         prepared.facts.test_images, classes};
  const std::string where = fmt::format("epoch {}, {} steps", summary.last.epoch, summary.steps);
  if (const auto message = find_guessing(test, where, longer_training(options, summary)))
    fmt::print(stderr, "{}", render_message(program_name, "warning", *message));
}

void print_best(const TrainOptions& options, const std::optional<EpochRecord>& best,
                const TrainSummary& summary) {
  if (options.quiet || !best || best->epoch == summary.last.epoch) return;
  const std::string path = quote_shell(join_path(options.checkpoint, "best"));
  fmt::print(stderr,
             "best: test accuracy {:.2f} % after epoch {}; ddl-train predict --checkpoint {} PHOTO uses it\n",
             100.0 * best->test_accuracy, best->epoch, path);
}

void print_stop(const TrainOptions& options, const TrainSummary& summary) {
  const std::string signal = StopSignals::name();
  const char* const why =
      signal == "TERM" && launched_rank() ? "; launchers send TERM also after Ctrl-C" : "";
  fmt::print(stderr, "{}",
             render_message(program_name, "note",
                            {fmt::format("stopped by {} after step {} of {}; checkpoint saved{}", signal,
                                         summary.steps, summary.total_steps, why),
                             printable(join_path(options.checkpoint, checkpoint_name(summary.steps))),
                             resume_command(options)}));
}

}  // namespace ddlrun::runtime
