// SPDX-License-Identifier: MIT
// One rank alone: no shared memory, no connections.
#include "ddl/core/rounding.hpp"
#include "ddl/error.hpp"
#include "ddl/transport/transport.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ddl {
namespace {

class OwnBuffer : public SharedBuffer {
 public:
  explicit OwnBuffer(std::size_t bytes)
      : bytes_(bytes), data_(static_cast<std::byte*>(std::calloc(1, bytes + page_bytes))) {
    if (data_ == nullptr) {
      throw Error(Fault::unsupported, fmt::format("cannot allocate {} bytes of memory", bytes), "",
                  "see free -h and ulimit -v, or allocate less");
    }
  }
  ~OwnBuffer() override { std::free(data_); }
  OwnBuffer(const OwnBuffer&) = delete;
  OwnBuffer& operator=(const OwnBuffer&) = delete;
  std::span<std::byte> part(int) const override {
    void* start = data_;
    std::size_t room = bytes_ + page_bytes;
    std::align(page_bytes, bytes_, start, room);
    return {static_cast<std::byte*>(start), bytes_};
  }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

class SingleNodeComm : public NodeComm {
 public:
  explicit SingleNodeComm(std::string name) : name_(std::move(name)) {}
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  std::shared_ptr<SharedBuffer> allocate(std::size_t bytes) override {
    return std::make_shared<OwnBuffer>(bytes);
  }
  bool alive(int) const override { return true; }
  std::string name_of(int) const override { return name_; }

 private:
  std::string name_;
};

class SingleProcessTransport : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  std::string host_name() const override {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
  }
  std::unique_ptr<NodeComm> make_node_comm(const Grid& grid) override {
    return std::make_unique<SingleNodeComm>(grid.name_of(0));
  }
  std::vector<std::unique_ptr<PeerComm>> make_level_comms(const Grid&, double) override { return {}; }
  std::unique_ptr<PeerComm> make_global_comm(const Grid&, double) override {
    return std::make_unique<NoPeers>();
  }
  std::unique_ptr<Transport> split(const SplitPlan& plan) override {
    return plan.members.empty() ? nullptr : make_single_process_transport();
  }
  bool native_all_reduce(const std::byte* in, std::byte* out, std::size_t count, DataType type,
                         Operation) override {
    std::copy_n(in, count * size_of(type), out);
    return true;
  }

 private:
  // No peer: collectives over it send nothing.
  class NoPeers : public PeerComm {
   public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    Ticket send(int, std::span<const std::byte>) override { return 0; }
    Ticket receive(int, std::span<std::byte>) override { return 0; }
    void wait(Ticket) override {}
    std::string name_of(int) const override { return "rank 0"; }
  };
};

}  // namespace

std::unique_ptr<Transport> make_single_process_transport() {
  return std::make_unique<SingleProcessTransport>();
}

}  // namespace ddl
