// SPDX-License-Identifier: MIT
#include "runtime/core/gzip.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 20;

class Inflater {
 public:
  // 15 bits of window, + 16: gzip only.
  Inflater() : ready_(inflateInit2(&stream, 15 + 16) == Z_OK) {}
  ~Inflater() {
    if (ready_) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool ready() const { return ready_; }

  z_stream stream{};

 private:
  bool ready_;
};

std::string try_test(std::string_view name) { return "gzip -t " + quote_shell(name); }

// One call of inflate: appends what came out. Returns zlib's code.
int inflate_some(Inflater& inflater, std::vector<std::uint8_t>& buffer, std::vector<std::uint8_t>& out,
                 std::size_t limit, std::string_view name, const SizeOfHead& size_of_head) {
  inflater.stream.next_out = buffer.data();
  inflater.stream.avail_out = static_cast<uInt>(buffer.size());
  const int code = inflate(&inflater.stream, Z_NO_FLUSH);
  const std::size_t produced = buffer.size() - inflater.stream.avail_out;
  if (produced > limit - out.size()) {
    throw refuse_file(name, fmt::format("it unpacks to more than {} bytes, the limit for a data file", limit),
                      "zcat " + quote_shell(name) + " | wc -c");
  }
  out.insert(out.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(produced));
  const std::uint64_t declared = size_of_head ? size_of_head(out) : 0;
  if (declared > limit) {
    throw refuse_file(
        name,
        fmt::format("its header declares {} bytes, and the limit for a data file is {}", declared, limit),
        "zcat " + quote_shell(name) + " | head -c 16 | xxd");
  }
  if (declared != 0 && out.size() > declared) {
    throw refuse_file(name,
                      fmt::format("it unpacks to more than the {} bytes that its header declares", declared),
                      "zcat " + quote_shell(name) + " | wc -c");
  }
  return code;
}

}  // namespace

Error refuse_file(std::string_view name, std::string what, std::string hint) {
  return {ErrorKind::request, {std::move(what), printable(name), std::move(hint)}};
}

bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> bytes, std::size_t limit,
                                 std::string_view name, const SizeOfHead& size_of_head) {
  Inflater inflater;
  if (!inflater.ready())
    throw Error(ErrorKind::internal, {"cannot initialize zlib", printable(name), try_test(name)});
  std::vector<std::uint8_t> out;
  std::vector<std::uint8_t> buffer(std::min(chunk, limit + 1));
  std::size_t used = 0;
  int code = Z_OK;
  while (used < bytes.size()) {
    const std::size_t given = std::min<std::size_t>(bytes.size() - used, chunk);
    inflater.stream.next_in = const_cast<Bytef*>(bytes.data() + used);  // zlib 1.2 lacks the const
    inflater.stream.avail_in = static_cast<uInt>(given);
    code = inflate_some(inflater, buffer, out, limit, name, size_of_head);
    const std::size_t eaten = given - inflater.stream.avail_in;
    used += eaten;
    if (code == Z_STREAM_END) {
      if (!is_gzip(bytes.subspan(used))) break;  // padding after the last member is allowed, as gzip does
      inflateReset(&inflater.stream);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      throw refuse_file(name,
                        fmt::format("the gzip data is damaged near byte {} of {}: {}", used, bytes.size(),
                                    inflater.stream.msg != nullptr ? inflater.stream.msg : "zlib error"),
                        try_test(name));
    }
  }
  // A full output buffer can hold back data after the input is used up.
  while (code == Z_OK) code = inflate_some(inflater, buffer, out, limit, name, size_of_head);
  if (code != Z_STREAM_END) {
    throw refuse_file(name,
                      fmt::format("the gzip data ends early: {} bytes gave {} without an end mark",
                                  bytes.size(), out.size()),
                      try_test(name));
  }
  return out;
}

std::vector<std::uint8_t> read_data_file(const std::string& path, std::size_t limit,
                                         const SizeOfHead& size_of_head) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    throw refuse_file(path, fmt::format("the file cannot be read: {}", std::strerror(errno)),
                      "ls -l " + quote_shell(path));
  }
  if (!S_ISREG(status.st_mode)) {
    throw refuse_file(path, "it is not a regular file", "ls -ld " + quote_shell(path));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > limit) {
    throw refuse_file(path, fmt::format("the file has {} bytes; the limit is {}", size, limit),
                      "ls -l " + quote_shell(path));
  }
  std::vector<std::uint8_t> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!file || static_cast<std::size_t>(file.gcount()) != size) {
    throw refuse_file(path, fmt::format("{} of {} bytes could be read", file.gcount(), size),
                      "ls -l " + quote_shell(path));
  }
  return is_gzip(bytes) ? gunzip(bytes, limit, path, size_of_head) : bytes;
}

}  // namespace ddlrun::runtime
