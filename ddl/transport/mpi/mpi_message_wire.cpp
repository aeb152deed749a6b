// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_message_wire.hpp"

#include <exception>
#include <unordered_map>

namespace ddl {
namespace {

constexpr int message_tag = 1;

// Counted in floats: bytes would outgrow an int.
int floats_in(std::span<const std::byte> bytes) { return static_cast<int>(bytes.size() / sizeof(float)); }

class MpiMessageWire : public MessageWire {
 public:
  explicit MpiMessageWire(MPI_Comm all) { MPI_Comm_dup(all, &comm_); }
  // After an error the other side may never receive: what is under way is left to MPI.
  ~MpiMessageWire() override {
    if (std::uncaught_exceptions() > exceptions_) return;
    for (auto& [ticket, message] : messages_) {
      if (message.is_send) MPI_Wait(&message.request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&comm_);
  }
  MpiMessageWire(const MpiMessageWire&) = delete;
  MpiMessageWire& operator=(const MpiMessageWire&) = delete;

  Ticket send(int to, std::span<const std::byte> bytes) override {
    WireMessage& message = messages_[next_];
    message = {to, true, MPI_REQUEST_NULL};
    MPI_Isend(bytes.data(), floats_in(bytes), MPI_FLOAT, to, message_tag, comm_, &message.request);
    return next_++;
  }
  Ticket receive(std::optional<int> from, std::span<std::byte> bytes) override {
    WireMessage& message = messages_[next_];
    MPI_Irecv(bytes.data(), floats_in(bytes), MPI_FLOAT, from.value_or(MPI_ANY_SOURCE), message_tag, comm_,
              &message.request);
    return next_++;
  }
  std::optional<int> test(Ticket ticket) override {
    WireMessage& message = messages_.at(ticket);
    MPI_Status status{};
    int done = 0;
    MPI_Test(&message.request, &done, &status);
    if (done == 0) return std::nullopt;
    const int other = message.is_send ? message.to : status.MPI_SOURCE;
    messages_.erase(ticket);
    return other;
  }

 private:
  struct WireMessage {
    int to = 0;
    bool is_send = false;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  int exceptions_ = std::uncaught_exceptions();
  MPI_Comm comm_ = MPI_COMM_NULL;
  Ticket next_ = 0;
  std::unordered_map<Ticket, WireMessage> messages_;
};

}  // namespace

std::unique_ptr<MessageWire> make_mpi_message_wire(MPI_Comm all) {
  return std::make_unique<MpiMessageWire>(all);
}

}  // namespace ddl
