// SPDX-License-Identifier: MIT
// LMDB files, their records, and mean images: everything that is found is inside the file.
#include "fuzz/fuzz_target.hpp"
#include "runtime/data/datum.hpp"
#include "runtime/data/lmdb_pages.hpp"

using namespace ddlrun;
using namespace ddlrun::runtime;

DDLRUN_FUZZ_TARGET(lmdb) {
  const std::span<const std::uint8_t> file = fuzz::as_bytes(input);
  fuzz::accepted([&] { return parse_mean_image(file, "mean.binaryproto"); });
  fuzz::accepted([&] { return parse_datum(file, "datum"); });
  const auto records = fuzz::accepted([&] { return parse_lmdb(file, "data.mdb"); });
  for (const LmdbRecord& record : records.value_or(std::vector<LmdbRecord>())) {
    fuzz::require(record.key >= file.data() && record.key + record.key_size <= file.data() + file.size() &&
                      record.value >= file.data() &&
                      record.value + record.value_size <= file.data() + file.size(),
                  "a record is inside the file");
    const auto datum = fuzz::accepted([&] {
      return parse_datum({record.value, record.value_size}, "datum");
    });
    if (datum) fuzz::accepted([&] { return datum_class(*datum, "datum"); });
  }
}
