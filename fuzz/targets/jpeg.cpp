// SPDX-License-Identifier: MIT
// Images in the format JPEG.
#include "fuzz/image_body.hpp"

DDLRUN_FUZZ_TARGET(jpeg) { ddlrun::fuzz::decode_any(input); }
