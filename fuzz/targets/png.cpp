// SPDX-License-Identifier: MIT
// Images in the format PNG.
#include "fuzz/image_body.hpp"

DDLRUN_FUZZ_TARGET(png) { ddlrun::fuzz::decode_any(input); }
