// SPDX-License-Identifier: MIT
#include "bench/predict/step_model.hpp"

#include <algorithm>
#include <vector>

namespace ddlrun::bench_predict {
namespace {

constexpr int steps_until_steady = 4;  // a schedule across steps needs the step before it
constexpr double least_gain = 0.98;    // schedule_plan of ddl-train

double bytes_of(const ProfileRange& range) { return static_cast<double>(range.end - range.begin) * 4.0; }

// One bucket from the start of its sum to the updated weights.
struct BucketTime {
  double total_ms = 0.0;
  double core_ms = 0.0;  // of the communication thread
  SumTime between;
  double host_ms = 0.0;
};

class StepSimulation {
 public:
  StepSimulation(const StepProfile& profile, const ProfileSchedule& schedule, double slower)
      : profile_(profile), schedule_(schedule), slower_(slower) {}

  void add_bucket(const BucketTime& time) { buckets_.push_back(time); }

  // Returns the times of the last of several steps.
  StepForecast run() {
    done_.assign(buckets_.size(), 0.0);
    StepForecast forecast;
    for (int step = 0; step < steps_until_steady; ++step) {
      const double begin = now_;
      exposed_ = 0.0;
      run_one();
      forecast.step_ms = now_ - begin;
      forecast.exposed_ms = exposed_;
    }
    return forecast;
  }

 private:
  void compute(double ms) {
    now_ += ms * slower_ + owed_;
    owed_ = 0.0;
  }

  void wait_until(double time) {
    if (time <= now_) return;
    owed_ = std::max(0.0, owed_ - (time - now_));  // the thread that waits leaves its core
    exposed_ += time - now_;
    now_ = time;
  }

  void send(std::size_t bucket) {
    compute(share_of(bucket) * profile_.check_ms);
    const BucketTime& time = buckets_[bucket];
    done_[bucket] = std::max(now_, free_) + time.total_ms;
    free_ = done_[bucket];
    // The communication thread takes its time from the threads that compute.
    owed_ += time.core_ms / profile_.threads;
  }

  // In the forward pass, of the step before: this layer's buckets, and with them all that were sent earlier.
  void wait_for(const ProfileRange& parameters) {
    for (std::size_t i = buckets_.size(); i-- > schedule_.metadata_bucket + 1;) {
      const ProfileRange& bucket = schedule_.buckets[i];
      if (bucket.end <= profile_.metadata + parameters.begin ||
          bucket.begin >= profile_.metadata + parameters.end)
        continue;
      return wait_until(done_[i]);
    }
  }

  double share_of(std::size_t bucket) const {
    const double all = static_cast<double>(profile_.metadata + profile_.parameters) * 4.0;
    return all > 0.0 ? bytes_of(schedule_.buckets[bucket]) / all : 0.0;
  }

  void run_one() {
    compute(profile_.input_ms);
    for (const ProfileLayer& layer : profile_.layers) {
      if (layer.parameters.begin < layer.parameters.end) wait_for(layer.parameters);
      compute(layer.forward_ms);
    }
    compute(profile_.rest_ms);
    std::size_t sent = 0;
    for (std::size_t i = profile_.layers.size(); i-- > 0;) {
      const ProfileLayer& layer = profile_.layers[i];
      compute(layer.backward_ms);
      if (!schedule_.overlap || layer.parameters.begin == layer.parameters.end) continue;
      while (sent < schedule_.metadata_bucket &&
             schedule_.buckets[sent].begin >= profile_.metadata + layer.parameters.begin)
        send(sent++);
    }
    while (sent < buckets_.size()) send(sent++);
    wait_until(done_[schedule_.metadata_bucket]);
  }

  const StepProfile& profile_;
  const ProfileSchedule& schedule_;
  double slower_;
  std::vector<BucketTime> buckets_;
  std::vector<double> done_;  // of the last step that was sent
  double now_ = 0.0;
  double free_ = 0.0;  // when the communication thread has nothing to do
  double owed_ = 0.0;
  double exposed_ = 0.0;
};

// The host's additions and the update run beside the wire, but for the first and the last chunk.
BucketTime time_bucket(const StepProfile& profile, double part, double bytes, const SumShape& shape,
                       const Network& network, double slower) {
  BucketTime time;
  time.between = model_sum(bytes, shape, network);
  const double chunks = std::max(1.0, count_sum_work(bytes, shape).chunks);
  time.host_ms = (shape.ranks_a_host > 1 ? profile.host_sum_ms : 0.0) * part * slower;
  const double beside = time.host_ms + profile.update_ms * part * slower;
  const double between = time.between.total_s * 1e3;
  time.total_ms = std::max(between, beside) + std::min(between, beside) / chunks;
  time.core_ms = beside + time.between.messages_s * 1e3;
  return time;
}

}  // namespace

StepForecast simulate_step(const StepProfile& profile, const ProfileSchedule& schedule, const SumShape& shape,
                           const Network& network, double slower) {
  StepSimulation simulation(profile, schedule, slower);
  StepForecast sums;
  const double all = static_cast<double>(profile.metadata + profile.parameters) * 4.0;
  double update_ms = 0.0;
  for (const ProfileRange& bucket : schedule.buckets) {
    const double part = all > 0.0 ? bytes_of(bucket) / all : 0.0;
    const BucketTime time = time_bucket(profile, part, bytes_of(bucket), shape, network, slower);
    sums.wire_ms += time.between.wire_s * 1e3;
    sums.latency_ms += time.between.latency_s * 1e3;
    sums.messages_ms += time.between.messages_s * 1e3;
    sums.host_ms += time.host_ms;
    update_ms += profile.update_ms * part * slower;
    simulation.add_bucket(time);
  }
  const StepForecast times = simulation.run();
  sums.step_ms = times.step_ms;
  // The update alone is no wait for a sum.
  sums.exposed_ms = std::max(0.0, times.exposed_ms - (schedule.overlap ? 0.0 : update_ms));
  sums.schedule = schedule.text;
  return sums;
}

StepForecast forecast_step(const StepProfile& profile, const SumShape& shape, const Network& network,
                           double slower) {
  const std::vector<ProfileSchedule>& schedules = shape.narrow ? profile.narrow_schedules : profile.schedules;
  StepForecast first, best;
  for (const ProfileSchedule& schedule : schedules) {
    const StepForecast tried = simulate_step(profile, schedule, shape, network, slower);
    if (first.schedule.empty()) first = best = tried;
    if (tried.step_ms < best.step_ms) best = tried;
  }
  return best.step_ms < least_gain * first.step_ms ? best : first;
}

}  // namespace ddlrun::bench_predict
