// SPDX-License-Identifier: MIT
// The CPU engine on oneDNN. Parameters stay in plain layouts in the caller's flat vector; reorders inside
// each step convert to oneDNN's layouts.
#pragma once

#include "runtime/engine/engine.hpp"

#include <memory>
#include <span>
#include <string>

namespace ddlrun::runtime {

std::unique_ptr<Engine> make_cpu_engine(const Net& net, std::size_t batch, std::span<float> parameters,
                                        std::span<float> gradients);

// "2.6.3", for records.
std::string cpu_library_version();

// How many OpenMP threads oneDNN uses when called from this thread.
void set_cpu_threads(int threads);

}  // namespace ddlrun::runtime
