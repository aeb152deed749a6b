// SPDX-License-Identifier: MIT
// Images in the format PNM.
#include "fuzz/image_body.hpp"

DDLRUN_FUZZ_TARGET(pnm) { ddlrun::fuzz::decode_any(input); }
