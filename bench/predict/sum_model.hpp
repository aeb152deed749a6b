// SPDX-License-Identifier: MIT
// The time of one sum of libddl between hosts, from latency, bandwidth and messages (alpha, beta, o of
// LogGP). It follows ddl/collectives/inter_node_pipeline.cpp and all_reduce_gathered(). Pure.
#pragma once

#include "bench/predict/quantities.hpp"

#include <vector>

namespace ddlrun::bench_predict {

struct SumShape {
  std::vector<int> levels;  // hosts of a rack, racks; those of 1 count for nothing
  int ranks_a_host = 1;     // each sums its slice, over the one interface of the host
  bool narrow = false;      // float32 travels as a type of 16 bits
};

// What a sum does, before times: for the interface of a host, and for one rank.
struct SumWork {
  double bytes = 0.0;     // sent by the host; as many come in
  double messages = 0.0;  // sent and received by one rank
  double stages = 0.0;    // messages that wait for one another
  double chunks = 1.0;    // that follow one another through the stages
};
// `bytes`: of the vector in float32.
SumWork count_sum_work(double bytes, const SumShape& shape);

struct SumTime {
  double wire_s = 0.0;      // bytes
  double latency_s = 0.0;   // of stages, as far as no other chunk is on the wire meanwhile
  double messages_s = 0.0;  // a core's time
  double total_s = 0.0;
};
SumTime model_sum(double bytes, const SumShape& shape, const Network& network);

// A sum as measured.
struct MeasuredSum {
  double bytes = 0.0;
  double seconds = 0.0;
};
// The network with which model_sum() comes closest to all of them (least squares of the logarithms; long sums
// count most), and the mean of its errors as a part of each time. Throws Error(request) for fewer than three
// sums.
struct FittedNetwork {
  Network network;
  double error = 0.0;
};
FittedNetwork fit_network(const std::vector<MeasuredSum>& sums, const SumShape& shape);

}  // namespace ddlrun::bench_predict
