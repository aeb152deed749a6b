// SPDX-License-Identifier: MIT
// The line by which `ddlrun launch` names the rank, or ranks, that failed first.
#pragma once

#include "doctor/diagnose/signature.hpp"

#include <string_view>

namespace ddlrun::diagnose {

// The last such line of `log`, without "ddlrun: ": that of launch's last start; "" where there is none. Its
// forms are the endings of `set` that are certain: supervisors know the order in which ranks ended, a log has
// the order in which messages came.
std::string_view find_launch_end(const SignatureSet& set, std::string_view log);

}  // namespace ddlrun::diagnose
