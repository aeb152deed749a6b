// SPDX-License-Identifier: MIT
// A training step as measured: what each layer computes, and in which buckets its gradients travel. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::bench_predict {

// Floats [begin, end) of the gradients.
struct ProfileRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct ProfileLayer {
  std::string name;
  ProfileRange parameters;  // empty for a layer without any
  double forward_ms = 0.0;
  double backward_ms = 0.0;
};

// One of the schedules among which ddl-train keeps the fastest. Buckets are ranges of the reduced vector: the
// metadata, then the gradients; in the order in which they are sent.
struct ProfileSchedule {
  std::string text;
  bool overlap = false;
  std::size_t metadata_bucket = 0;  // the step ends when this one is reduced; later ones: in the next step
  std::vector<ProfileRange> buckets;
};

struct StepProfile {
  std::string net;
  std::string source;      // for people: "measured on node1", "FILE"
  int ranks_a_host = 1;    // that were measured, all on one host
  int threads = 1;         // of a rank
  std::size_t images = 0;  // of a rank and step
  std::size_t parameters = 0;
  std::size_t metadata = 0;  // floats
  std::vector<ProfileLayer> layers;
  std::vector<ProfileSchedule> schedules;         // gradients as float32 between hosts
  std::vector<ProfileSchedule> narrow_schedules;  // as bfloat16
  bool layers_measured = false;                   // else the step was spread over equal layers
  // Medians of the measured steps, without waits for sums. step = input + layers + rest + check + update.
  double input_ms = 0.0;
  double rest_ms = 0.0;         // of computing, in no layer: the loss, copies of images
  double check_ms = 0.0;        // of gradients, before they are sent
  double update_ms = 0.0;       // of the weights
  double host_sum_ms = 0.0;     // all gradients over the ranks of the host
  double one_rank_step_ms = 0;  // of one rank alone: what efficiency compares with
  // Quartiles of the measured computing, as parts of its median.
  double lower_quartile = 1.0;
  double upper_quartile = 1.0;
};

// Forward and backward passes of all layers.
double layers_ms(const StepProfile& profile);
// A step of one rank without any sums.
double alone_ms(const StepProfile& profile);

// Of a run of ddl-train: its --metrics, and its --timeline ("" for none: the layers are then taken as equally
// long). The first half of the steps is left out, where schedules are tried. Throws Error(request); `where`
// names the file.
StepProfile read_profile(std::string_view metrics, std::string_view timeline, const std::string& where);

// A step of which only the time is known: 16 equal layers, a third of the time in the forward pass, a bucket
// for each layer or one for all.
struct BareStep {
  std::string net;
  std::string source;
  int ranks_a_host = 1;
  int threads = 1;
  std::size_t images = 0;
  std::size_t parameters = 0;
  double compute_ms = 0.0;
  double other_ms = 0.0;  // the update
  double input_ms = 0.0;
  double host_sum_ms = 0.0;
  double one_rank_step_ms = 0.0;
};
StepProfile spread_step(const BareStep& step);

// The first document of either kind: "ddlrun.bench.scaling/1" (its run of `ranks` ranks on one host; 0: the
// largest) or "ddlrun.predict/1". Throws Error(request).
StepProfile parse_saved_profile(std::string_view text, int ranks, const std::string& where);

}  // namespace ddlrun::bench_predict
