// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_oob_channel.hpp"

#include <chrono>
#include <list>
#include <thread>

namespace ddl {
namespace {

// Ranks of one program end their Contexts at about the same time; one that does more first is not waited for.
constexpr std::chrono::milliseconds settle_patience{1000};
constexpr std::chrono::microseconds between_looks{100};

class MpiOobChannel : public OobChannel {
 public:
  explicit MpiOobChannel(MPI_Comm all) {
    MPI_Comm_dup(all, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
  }
  ~MpiOobChannel() override {
    // MPICH 5 ends the process if a communicator with unreceived messages is freed.
    const bool is_settled = !abandoned_ && settle();
    // Untaken messages must outlive this object: MPI may still read them.
    for (PendingSend& pending : sent_) {
      if (pending.request != MPI_REQUEST_NULL) MPI_Request_free(&pending.request);
    }
    if (!sent_.empty()) static_cast<void>(new std::list<PendingSend>(std::move(sent_)));
    if (is_settled) MPI_Comm_free(&comm_);
  }
  MpiOobChannel(const MpiOobChannel&) = delete;
  MpiOobChannel& operator=(const MpiOobChannel&) = delete;

  int rank() const override { return rank_; }
  void abandon() noexcept override { abandoned_ = true; }

  // A synchronous send is done when the other rank receives the message. A rank that fails does not wait for
  // that.
  void send(int to, const OobMessage& message) override {
    forget_taken();
    const auto start = message.kind == OobMessage::Kind::failure ? &MPI_Isend : &MPI_Issend;
    PendingSend& pending = sent_.emplace_back(PendingSend{message, MPI_REQUEST_NULL});
    if (start(&pending.message, sizeof(OobMessage), MPI_BYTE, to, 0, comm_, &pending.request) != MPI_SUCCESS)
      sent_.pop_back();
  }

  std::optional<Received> take() override {
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, &status) != MPI_SUCCESS || there == 0)
      return std::nullopt;
    Received received;
    received.from = status.MPI_SOURCE;
    if (MPI_Recv(&received.message, sizeof(OobMessage), MPI_BYTE, received.from, 0, comm_,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return std::nullopt;
    return received;
  }

 private:
  struct PendingSend {
    OobMessage message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void forget_taken() {
    sent_.remove_if([](PendingSend& pending) {
      int done = 0;
      return MPI_Test(&pending.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
    });
  }

  // Takes what still comes until all ranks' messages are taken (Hoefler et al., "Scalable Communication
  // Protocols for Dynamic Sparse Data Exchange", 2010). False where the others do not come here in time.
  bool settle() {
    MPI_Request all_here = MPI_REQUEST_NULL;
    bool is_asked = false;
    const auto end = std::chrono::steady_clock::now() + settle_patience;
    while (std::chrono::steady_clock::now() < end) {
      while (take()) {
      }
      int done = 0;
      if (is_asked && (MPI_Test(&all_here, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0))
        return done != 0;
      if (!is_asked) forget_taken();
      if (!is_asked && sent_.empty()) {
        if (MPI_Ibarrier(comm_, &all_here) != MPI_SUCCESS) return false;
        is_asked = true;
        continue;
      }
      std::this_thread::sleep_for(between_looks);
    }
    return false;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  bool abandoned_ = false;
  std::list<PendingSend> sent_;
};

}  // namespace

std::unique_ptr<OobChannel> make_mpi_oob_channel(MPI_Comm all) {
  return std::make_unique<MpiOobChannel>(all);
}

}  // namespace ddl
