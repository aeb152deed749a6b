// SPDX-License-Identifier: MIT
#include "runtime/servers/mpi_parcels.hpp"

#include "base/error.hpp"
#include "ddl/process_mark.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <string_view>
#include <thread>

namespace ddlrun::runtime {
namespace {

constexpr int parcel_tag = 1;
using Bytes = std::vector<std::byte>;
// Parcels are counted in floats: bytes would outgrow an int.
static_assert(sizeof(ParcelNote) % sizeof(float) == 0);

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

// The processes of all ranks; of those on this host it is known whether they run.
class Processes {
 public:
  void meet(MPI_Comm group) {
    int size = 0;
    MPI_Comm_size(group, &size);
    MPI_Comm_rank(group, &rank_);
    Card mine;
    gethostname(mine.host, sizeof(mine.host) - 1);
    mine.process = ddl::mark_this_process();
    cards_.resize(static_cast<std::size_t>(size));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards_.data(), sizeof mine, MPI_BYTE, group);
    for (Card& card : cards_)
      card.near = std::string_view(card.host) == mine.host && ddl::still_runs(card.process, true);
  }
  std::string name_of(int rank) const { return fmt::format("rank {} ({})", rank, card(rank).host); }
  std::string own_name() const { return name_of(rank_); }
  bool is_near(int rank) const { return card(rank).near; }
  bool is_gone(int rank) const { return card(rank).near && !ddl::still_runs(card(rank).process, true); }
  // "process 4711 is stopped"; "" of another host's.
  std::string state_of(int rank) const {
    return card(rank).near ? ddl::render_state(card(rank).process) : "";
  }

 private:
  struct Card {
    char host[65] = {};
    bool near = false;
    ddl::ProcessMark process;
  };
  const Card& card(int rank) const { return cards_[static_cast<std::size_t>(rank)]; }

  int rank_ = 0;
  std::vector<Card> cards_;
};

class MpiParcels : public Parcels {
 public:
  MpiParcels(std::size_t largest, ParcelPatience patience)
      : patience_(std::move(patience)), inbox_(sizeof(ParcelNote) + largest * sizeof(float)) {
    MPI_Comm_dup(MPI_COMM_WORLD, &group_);
    MPI_Comm_rank(group_, &rank_);
    processes_.meet(group_);
  }
  // Where an error ends the run nobody may come any more: what is on its way is left to it.
  ~MpiParcels() override {
    if (std::uncaught_exceptions() > exceptions_) return;
    for (auto& [to, outgoing] : outgoing_) MPI_Wait(&outgoing.request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&group_);
  }
  MpiParcels(const MpiParcels&) = delete;
  MpiParcels& operator=(const MpiParcels&) = delete;

  int rank() const override { return rank_; }

  std::vector<ParcelNote> exchange(std::span<const int> servers, const ParcelNote& note,
                                   std::span<const std::span<const float>> gradients,
                                   std::span<const std::span<float>> weights) override {
    std::vector<MPI_Request> arriving(servers.size());
    arrivals_.resize(servers.size());
    for (std::size_t i = 0; i < servers.size(); ++i) {
      arrivals_[i].resize(sizeof note + weights[i].size_bytes());
      MPI_Irecv(arrivals_[i].data(), floats_in(arrivals_[i].size()), MPI_FLOAT, servers[i], parcel_tag,
                group_, &arriving[i]);
    }
    for (std::size_t i = 0; i < servers.size(); ++i) send(servers[i], note, gradients[i]);
    std::vector<ParcelNote> notes;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      wait_for(arriving[i], {"weights of a parameter server", {servers[i]}, true});
      notes.push_back(unpack(arrivals_[i], weights[i]));
    }
    return notes;
  }

  Arrived receive(std::span<float> gradients, std::span<const std::size_t> awaited) override {
    MPI_Request arriving{};
    MPI_Irecv(inbox_.data(), floats_in(sizeof(ParcelNote) + gradients.size_bytes()), MPI_FLOAT,
              MPI_ANY_SOURCE, parcel_tag, group_, &arriving);
    const MPI_Status status =
        wait_for(arriving, {"gradients for the parameter servers", {awaited.begin(), awaited.end()}, false});
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
  struct Wait {
    const char* what;
    std::vector<int> ranks;
    bool is_for_server;
  };

  // One parcel is on its way to each rank at most: the one before has arrived, for it was answered.
  void send(int to, const ParcelNote& note, std::span<const float> body) {
    Outgoing& outgoing = outgoing_[to];
    wait_for(outgoing.request, {"way of the parcel before", {to}, false});
    pack(outgoing.bytes, note, body);
    MPI_Isend(outgoing.bytes.data(), floats_in(outgoing.bytes.size()), MPI_FLOAT, to, parcel_tag, group_,
              &outgoing.request);
  }

  MPI_Status wait_for(MPI_Request& request, const Wait& wait) const {
    const auto start = std::chrono::steady_clock::now();
    ddl::StallTimer stall(patience_.stall);
    MPI_Status status{};
    int done = 0;
    for (int turn = 1;; ++turn) {
      MPI_Test(&request, &done, &status);
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (done != 0) {
        stall.over(waited.count());
        return status;
      }
      if (turn < 1000) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // the workers' cores are not ours
      if (turn % 500 != 0) continue;
      if (const int lost = find_gone(wait); lost >= 0) {
        MPI_Test(&request, &done, &status);  // its last parcel may have come before its end was seen
        if (done != 0) return status;
        refuse_gone(lost, wait);
      }
      stall.waited(waited.count(), [&] { return describe(wait); });
      if (waited.count() > patience_.most_seconds) refuse_silence(wait);
    }
  }

  int find_gone(const Wait& wait) const {
    for (const int rank : wait.ranks) {
      if (processes_.is_gone(rank)) return rank;
    }
    return -1;
  }

  // A server that sleeps waits itself, and tells for whom.
  ddl::Stall describe(const Wait& wait) const {
    ddl::Stall stall;
    stall.call = wait.what;
    for (const int rank : wait.ranks) {
      const std::string state = processes_.state_of(rank);
      if (wait.is_for_server && (state.ends_with(" sleeps") || state.ends_with(" runs"))) continue;
      if (stall.missing.empty()) stall.seen = state;
      stall.missing.push_back(processes_.name_of(rank));
    }
    return stall;
  }

  [[noreturn]] void refuse_gone(int lost, const Wait& wait) const {
    throw Error(ErrorKind::request,
                {fmt::format("{} has ended, and {} waits for the {}", processes_.name_of(lost),
                             processes_.own_name(), wait.what),
                 "parameter servers", "the messages of that rank above; dmesg, if the kernel killed it"});
  }
  [[noreturn]] void refuse_silence(const Wait& wait) const {
    std::string names;
    for (const int rank : wait.ranks) names += (names.empty() ? "" : ", ") + processes_.name_of(rank);
    throw Error(ErrorKind::request,
                {fmt::format("{} has waited {:.0f} s for the {} from {}", processes_.own_name(),
                             patience_.most_seconds, wait.what, names),
                 "parameter servers", "the messages of those ranks above; ddlrun diagnose LOG"});
  }

  ParcelPatience patience_;
  int exceptions_ = std::uncaught_exceptions();
  MPI_Comm group_ = MPI_COMM_NULL;
  int rank_ = 0;
  Processes processes_;
  Bytes inbox_;
  std::vector<Bytes> arrivals_;
  std::map<int, Outgoing> outgoing_;
};

}  // namespace

std::unique_ptr<Parcels> make_mpi_parcels(std::size_t largest, ParcelPatience patience) {
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0)
    throw Error(ErrorKind::request,
                {"parameter servers need MPI, and these ranks met without it", "DDL_MASTER",
                 "unset DDL_MASTER, and start with ddlrun launch or mpirun"});
  return std::make_unique<MpiParcels>(largest, std::move(patience));
}

}  // namespace ddlrun::runtime
