// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/single_process.hpp"

#include <utility>

namespace ddlrun::ddl_bench {
namespace {

class SingleWorld : public World {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void barrier() override {}
  std::vector<double> max_of(const std::vector<double>& mine) override { return mine; }
  std::size_t sum_of(std::size_t mine) override { return mine; }
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
};

class SingleProcess : public MpiModule {
 public:
  explicit SingleProcess(std::string obstacle) : obstacle_(std::move(obstacle)) {}
  std::unique_ptr<World> init(bool) const override { return std::make_unique<SingleWorld>(); }
  void finalize() const override {}
  void abort(int status) const override { static_cast<void>(status); }
  std::string version() const override { return "no MPI"; }
  MpiAllReduce all_reduce(ddl::DataType, bool) const override { return {std::nullopt, obstacle_}; }
  LinkRate measure_link(const LinkPlace&) const override { return {}; }
  std::vector<std::unique_ptr<Case>> make_link_cases(const LinkPlace&, std::size_t) const override {
    return {};
  }

 private:
  std::string obstacle_;
};

}  // namespace

const MpiModule& single_process_module(std::string obstacle) {
  static const SingleProcess module(std::move(obstacle));
  return module;
}

}  // namespace ddlrun::ddl_bench
