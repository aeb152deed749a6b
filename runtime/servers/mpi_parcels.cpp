// SPDX-License-Identifier: MIT
#include "runtime/servers/mpi_parcels.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstring>
#include <map>
#include <thread>

namespace ddlrun::runtime {
namespace {

constexpr int parcel_tag = 1;
using Bytes = std::vector<std::byte>;
static_assert(sizeof(ParcelNote) % sizeof(float) ==
              0);  // parcels are counted in floats: bytes would outgrow an int

int floats_in(std::size_t bytes) { return static_cast<int>(bytes / sizeof(float)); }

void pack(Bytes& bytes, const ParcelNote& note, std::span<const float> body) {
  bytes.resize(sizeof note + body.size_bytes());
  std::memcpy(bytes.data(), &note, sizeof note);
  if (!body.empty()) std::memcpy(bytes.data() + sizeof note, body.data(), body.size_bytes());
}

ParcelNote unpack(const Bytes& bytes, std::span<float> body) {
  ParcelNote note;
  std::memcpy(&note, bytes.data(), sizeof note);
  if (!body.empty()) std::memcpy(body.data(), bytes.data() + sizeof note, body.size_bytes());
  return note;
}

class MpiParcels : public Parcels {
 public:
  MpiParcels(std::size_t largest, double most_seconds)
      : patience_(most_seconds), inbox_(sizeof(ParcelNote) + largest * sizeof(float)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &group_);
    MPI_Comm_rank(group_, &rank_);
  }
  ~MpiParcels() override {
    for (auto& [worker, outgoing] : outgoing_) wait_for(outgoing.request, "the last weights to be taken");
    MPI_Comm_free(&group_);
  }
  MpiParcels(const MpiParcels&) = delete;
  MpiParcels& operator=(const MpiParcels&) = delete;

  int rank() const override { return rank_; }

  std::vector<ParcelNote> exchange(std::span<const int> servers, const ParcelNote& note,
                                   std::span<const std::span<const float>> gradients,
                                   std::span<const std::span<float>> weights) override {
    std::vector<Bytes> in(servers.size());
    std::vector<MPI_Request> arriving(servers.size());
    for (std::size_t i = 0; i < servers.size(); ++i) {
      in[i].resize(sizeof note + weights[i].size_bytes());
      MPI_Irecv(in[i].data(), floats_in(in[i].size()), MPI_FLOAT, servers[i], parcel_tag, group_,
                &arriving[i]);
    }
    for (std::size_t i = 0; i < servers.size(); ++i) send(servers[i], note, gradients[i]);
    std::vector<ParcelNote> notes;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      wait_for(arriving[i], fmt::format("weights from server rank {}", servers[i]));
      notes.push_back(unpack(in[i], weights[i]));
    }
    return notes;
  }

  Arrived receive(std::span<float> gradients) override {
    MPI_Request arriving{};
    MPI_Irecv(inbox_.data(), floats_in(sizeof(ParcelNote) + gradients.size_bytes()), MPI_FLOAT,
              MPI_ANY_SOURCE, parcel_tag, group_, &arriving);
    const MPI_Status status = wait_for(arriving, "gradients from any worker");
    return {status.MPI_SOURCE, unpack(inbox_, gradients)};
  }

  void answer(int worker, const ParcelNote& note, std::span<const float> weights) override {
    send(worker, note, weights);
  }

 private:
  struct Outgoing {
    Bytes bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  // One parcel is on its way to each rank at most: the one before has arrived, for it was answered.
  void send(int to, const ParcelNote& note, std::span<const float> body) {
    Outgoing& outgoing = outgoing_[to];
    wait_for(outgoing.request, fmt::format("rank {} to take its parcel", to));
    pack(outgoing.bytes, note, body);
    MPI_Isend(outgoing.bytes.data(), floats_in(outgoing.bytes.size()), MPI_FLOAT, to, parcel_tag, group_,
              &outgoing.request);
  }

  MPI_Status wait_for(MPI_Request& request, const std::string& what) const {
    const auto start = std::chrono::steady_clock::now();
    MPI_Status status{};
    int done = 0;
    for (int turn = 0;; ++turn) {
      MPI_Test(&request, &done, &status);
      if (done != 0) return status;
      if (turn < 1000) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // the workers' cores are not ours
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (waited.count() > patience_) refuse_silence(what);
    }
  }

  [[noreturn]] void refuse_silence(const std::string& what) const {
    throw Error(ErrorKind::request,
                {fmt::format("rank {} has waited {:.0f} s for {}", rank_, patience_, what),
                 "parameter servers", "the messages of the other ranks; ddlrun diagnose LOG"});
  }

  double patience_;
  MPI_Comm group_ = MPI_COMM_NULL;
  int rank_ = 0;
  Bytes inbox_;
  std::map<int, Outgoing> outgoing_;
};

}  // namespace

std::unique_ptr<Parcels> make_mpi_parcels(std::size_t largest, double most_seconds) {
  return std::make_unique<MpiParcels>(largest, most_seconds);
}

}  // namespace ddlrun::runtime
