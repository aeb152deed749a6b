// SPDX-License-Identifier: MIT
// libddl's ways: in shared memory, in anyone's memory, with bfloat16 on the wire, as a ring, with the use of
// the sums once a host.
#pragma once

#include "ddl/ddl.hpp"
#include "ddl_bench/way.hpp"

#include <memory>
#include <string>

namespace ddlrun::ddl_bench {

// The contexts outlive the ways. Each way gets one that was made for it.
Way ddl_way(std::string name, std::shared_ptr<ddl::Context> context, ddl::DataType type, bool shared,
            LimitForm limit);
// float32: w += sum, each element by one rank of the host; or by every rank for its own w.
Way ddl_update_way(std::shared_ptr<ddl::Context> context);
Way ddl_each_way(std::shared_ptr<ddl::Context> context);

}  // namespace ddlrun::ddl_bench
