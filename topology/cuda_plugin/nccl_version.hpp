// SPDX-License-Identifier: MIT
// The version of the NCCL that programs here would load. Two files, one is built: with NCCL or without.
#pragma once

namespace ddlrun::topology {

// 22803 = 2.28.3; 0 where there is none.
int nccl_version();

}  // namespace ddlrun::topology
