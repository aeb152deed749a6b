// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_oob_channel.hpp"

#include <list>

namespace ddl {
namespace {

class MpiOobChannel : public OobChannel {
 public:
  explicit MpiOobChannel(MPI_Comm all) {
    MPI_Comm_dup(all, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
  }
  ~MpiOobChannel() override {
    // Untaken messages must outlive this object: MPI may still read them.
    for (PendingSend& pending : sent_) {
      if (pending.request != MPI_REQUEST_NULL) MPI_Request_free(&pending.request);
    }
    if (!sent_.empty()) static_cast<void>(new std::list<PendingSend>(std::move(sent_)));
    if (!abandoned_) MPI_Comm_free(&comm_);
  }
  MpiOobChannel(const MpiOobChannel&) = delete;
  MpiOobChannel& operator=(const MpiOobChannel&) = delete;

  int rank() const override { return rank_; }
  void abandon() noexcept override { abandoned_ = true; }

  void send(int to, const OobMessage& message) override {
    sent_.remove_if([](PendingSend& pending) {
      int done = 0;
      return MPI_Test(&pending.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
    });
    PendingSend& pending = sent_.emplace_back(PendingSend{message, MPI_REQUEST_NULL});
    if (MPI_Isend(&pending.message, sizeof(OobMessage), MPI_BYTE, to, 0, comm_, &pending.request) !=
        MPI_SUCCESS)
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
