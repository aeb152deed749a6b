// SPDX-License-Identifier: MIT
// Contexts of libddl for ranks that are threads: each rank's work is run with its own; the first error is
// thrown here.
#pragma once

#include "ddl/api/context_factory.hpp"
#include "ddl/ddl.hpp"
#include "ddl/transport/thread/thread_transport.hpp"

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ddl::tests {

// `per_host` ranks on each of `hosts` hosts, host by host.
inline std::vector<std::string> packed_hosts(int hosts, int per_host) {
  std::vector<std::string> names;
  for (int host = 0; host < hosts; ++host)
    for (int rank = 0; rank < per_host; ++rank) names.push_back("h" + std::to_string(host));
  return names;
}

// The same in DDL order: rank = local * hosts + host.
inline std::vector<std::string> interleaved_hosts(int hosts, int per_host) {
  std::vector<std::string> names;
  for (int rank = 0; rank < per_host; ++rank)
    for (int host = 0; host < hosts; ++host) names.push_back("h" + std::to_string(host));
  return names;
}

inline void run_contexts(const std::vector<std::string>& host_of_rank, const Options& options,
                         const std::function<void(Context&)>& work) {
  auto ranks = make_thread_transports(host_of_rank);
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (auto& each : ranks) {
    threads.emplace_back([&, mine = std::move(each)]() mutable {
      try {
        Context context = ContextFactory::make(std::move(mine), options);
        work(context);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace ddl::tests
