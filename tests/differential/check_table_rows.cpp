// SPDX-License-Identifier: MIT
// The rows. Outcomes were seen with Open MPI 4.1.4; check_table.cpp sees them again on each run.
#include "tests/support/check_table.hpp"

using namespace std::string_view_literals;

namespace ddlrun::tests {
namespace {

constexpr std::string_view m24 = "pack:2 core:4 pu:2";
constexpr std::string_view flat = "core:12 pu:2";
constexpr std::string_view uneven = "uneven";
using enum Outcome;

// clang-format off
constexpr CheckRow rows[] = {
  // --- good files
  {"plain", m24, "rank 0=a slot=0:0-1\nrank 1=b slot=1:2\n"sv, 0, bound, ""},
  {"as gen-rankfile writes it", m24,
   "#by ddlrun 0.1.0 gen-rankfile\n#dims = 2x2x1\n#host = a,b\n#sockets = 2\n#cores = 4\n\n"
   "rank 0=a           slot=0:0-3\nrank 2=a           slot=1:0-3\n\n"
   "rank 1=b           slot=0:0-3\nrank 3=b           slot=1:0-3\n\n\n"sv, 4, bound, ""},
  {"machine-wide cores", m24, "rank 0=a slot=4\nrank 1=a slot=2-3,6\n"sv, 0, bound, ""},
  {"packages", m24, "rank 0=a slot=S0\nrank 1=a slot=s1\n"sv, 0, bound, ""},
  {"package star", m24, "rank 0=a slot=0:*\nrank 1=a slot=1:*\n"sv, 0, bound, ""},
  {"all packages", m24, "rank 0=a slot=S*\n"sv, 0, bound, ""},
  {"semicolon", m24, "rank 0=a slot=0:0-1;1:0-1\n"sv, 0, bound, ""},
  {"comma with package repeated", m24, "rank 0=a slot=0:0,0:2\n"sv, 0, bound, ""},
  {"comments", m24, "# one\n// two\n/* three\n rank 9=x */\nrank 0=a slot=0:0 # four\nrank 1=a slot=0:1 // five\n"sv, 0, bound, ""},
  {"block comment between entries", m24, "rank 0=a slot=0:0 /* x */ rank 1=a slot=0:1\n"sv, 0, bound, ""},
  {"tabs and blanks", m24, "\n \trank\t0 = a \t slot = 0:0\n\f\nrank 1=a slot=0:1\v\n"sv, 0, bound, ""},
  {"no final newline", m24, "rank 0=a slot=0:0"sv, 0, bound, ""},
  {"CR inside a comment", m24, "# old\r\nrank 0=a slot=0:0 # x\r\n"sv, 0, bound, ""},
  {"IPv4 addresses", m24, "rank 0=10.1.1.1 slot=0:0\nrank 1=10.1.1.2 slot=0:0\n"sv, 0, bound, ""},
  {"short of the buffer by one", m24, "rank 0=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa slot=0:0\n"sv, 0, bound, ""},
  {"hostfile words as names", m24, "rank 0=cpu slot=0:0\nrank 1=count slot=0:0\n"sv, 0, bound, ""},
  {"leading zeros", m24, "rank 00=a slot=00:01\nrank 01=a slot=1:00-03\n"sv, 0, bound, ""},
  {"no packages, plain numbers", flat, "rank 0=a slot=0-3\nrank 1=a slot=4,6\n"sv, 0, bound, ""},
  {"uneven packages", uneven, "rank 0=a slot=0:0-1\nrank 1=a slot=1:0\nrank 2=a slot=2:1\n"sv, 0, bound, ""},
  {"uneven, machine-wide", uneven, "rank 0=a slot=0-2\nrank 1=a slot=4\n"sv, 0, bound, ""},
  {"ranks in any order behind 0", m24, "rank 0=a slot=0:0\nrank 2=a slot=0:2\nrank 1=a slot=0:1\n"sv, 0, bound, ""},
  // --- taken as written, flagged all the same
  {"slots=", m24, "rank 0=a slots=0:1\n"sv, 0, bound, "slots-keyword@1"},
  {"empty item", m24, "rank 0=a slot=0:0;;1:0;\n"sv, 0, bound, "empty-slot-item@1 empty-slot-item@1"},
  {"colon chain", m24, "rank 0=a slot=0:0-1:3\n"sv, 0, bound, "colon-chain@1"},
  {"overlap", m24, "rank 0=a slot=0:0-1\nrank 1=b slot=0:0-1\nrank 2=a slot=0:1-2\n"sv, 0, bound, "overlap@3"},
  {"overlap in two notations", m24, "rank 0=a slot=1:1\nrank 1=a slot=5\n"sv, 0, bound, "overlap@2"},
  {"user@host", m24, "rank 0=joe@a slot=0:0\n"sv, 0, bound, "user-in-name@1"},
  {"digits as a name", m24, "rank 0=7 slot=0:0\n"sv, 0, bound, "digits-only-name@1"},
  {"short and long name", m24, "rank 0=a slot=0:0\nrank 1=a.x.org slot=0:1\n"sv, 0, bound, "names-fold@2"},
  {"assumed topology", m24, "#topology = assumed 2x10, not probed\nrank 0=a slot=0:0\n"sv, 0, bound, "assumed-topology@1"},
  {"header against lines", m24, "#dims = 4x2x1\nrank 0=a slot=0:0\n"sv, 0, bound, "header-dims@1"},
  {"garbage after the cores", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:1 fast\n"sv, 0, bound, "text-after-slots@2"},
  // --- accepted silently, but not as written
  {"comma after a package", m24, "rank 0=a slot=0:0\nrank 1=a slot=1:0,1\n"sv, 0, different, "comma-in-package-list@2"},
  {"star alone", m24, "rank 0=a slot=*\n"sv, 0, different, "star-alone@1"},
  {"letters as a number", m24, "rank 0=a slot=0:x\n"sv, 0, different, "bad-slot-number@1"},
  {"number with a tail", m24, "rank 0=a slot=1x\n"sv, 0, different, "bad-slot-number@1"},
  {"minus number", m24, "rank 0=a slot=-1\n"sv, 0, different, "bad-range@1"},
  {"reversed range", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:3-1\n"sv, 0, different, "reversed-range@2"},
  {"reversed plain range", m24, "rank 0=a slot=3-1\n"sv, 0, different, "reversed-range@1"},
  {"no core behind the colon", m24, "rank 0=a slot=0:\n"sv, 0, different, "no-core@1"},
  {"package range with cores", m24, "rank 0=a slot=0-1:2\n"sv, 0, different, "package-range-with-cores@1"},
  {"P as in Open MPI 5", m24, "rank 0=a slot=P1\n"sv, 0, different, "bad-slot-number@1"},
  {"number that wraps", m24, "rank 0=a slot=4294967297\n"sv, 0, different, "number-too-large@1"},
  {"blank in the value", m24, "rank 0=a slot=0:0; 1:0\n"sv, 0, different, "blank-in-slots@1"},
  {"blank behind a comma", m24, "rank 0=a slot=0, 2\n"sv, 0, different, "blank-in-slots@1"},
  {"two entries in a line", m24, "rank 0=a slot=0:0 rank 1=a slot=0:1\n"sv, 0, different, "two-entries@1"},
  {"open comment", m24, "rank 0=a slot=0:0\n/* rank 1=a slot=0:1\n"sv, 0, bound, "open-comment@2"},
  {"FQDNs that fold", m24, "rank 0=a.x.org slot=0:0\nrank 1=a.y.org slot=0:0\n"sv, 0, different, "names-fold@2 overlap@2"},
  {"007", m24, "rank 0=007 slot=0:0\n"sv, 0, different, "digits-only-name@1"},
  {"fewer ranks than lines", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:1\nrank 2=a slot=0:2\n"sv, 2, different, "ranks-unused@3"},
  {"duplicate with -n", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:1\nrank 1=b slot=0:2\n"sv, 2, different, "duplicate-rank@3"},
  // --- refused, more or less clearly
  {"comma after 0", m24, "rank 0=a slot=0:0,2\n"sv, 0, refused, "comma-in-package-list@1"},
  {"range and comma", m24, "rank 0=a slot=0:0-1,3\n"sv, 0, refused, "comma-in-package-list@1"},
  {"core not there", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:4\n"sv, 0, refused, "core-not-there@2"},
  {"plain core not there", m24, "rank 0=a slot=0\nrank 1=a slot=8\n"sv, 0, refused, "core-not-there@2"},
  {"package not there", m24, "rank 0=a slot=2:0\n"sv, 0, refused, "package-not-there@1"},
  {"package star not there", m24, "rank 0=a slot=5:*\n"sv, 0, refused, "package-not-there@1"},
  {"no packages here", flat, "rank 0=a slot=0:0\n"sv, 0, refused, "no-packages-here@1"},
  {"uneven core not there", uneven, "rank 0=a slot=1:1\n"sv, 0, refused, "core-not-there@1"},
  {"three numbers in a range", m24, "rank 0=a slot=0:0-1-2\n"sv, 0, refused, "bad-range@1"},
  {"CRLF", m24, "rank 0=a slot=0:0\r\nrank 1=a slot=0:1\r\n"sv, 0, refused, "crlf@1"},
  {"a single CRLF", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:1\r\n"sv, 0, refused, "crlf@2"},
  {"no-break space", m24, "rank 0=a slot=0:0\nrank 1=a\xC2\xA0slot=0:1\n"sv, 0, refused, "odd-blank@2"},
  {"em space", m24, "rank 0=a\xE2\x80\x83slot=0:0\n"sv, 0, refused, "odd-blank@1"},
  {"zero-width space", m24, "rank 0=a slot=0:0\xE2\x80\x8B\n"sv, 0, refused, "odd-blank@1"},
  {"byte order mark", m24, "\xEF\xBB\xBFrank 0=a slot=0:0\n"sv, 0, refused, "byte-order-mark@1"},
  {"quoted host", m24, "rank 0=\"a\" slot=0:0\n"sv, 0, refused, "quoted-text@1"},
  {"quoted cores", m24, "rank 0=a slot=\"0:0\"\n"sv, 0, refused, "quoted-text@1"},
  {"+N0", m24, "rank 0=+N0 slot=0:0\n"sv, 0, refused, "bad-host-name@1"},
  {"+n0", m24, "rank 0=+n0 slot=0:0\n"sv, 0, refused, "relative-host@1"},
  {"Rank", m24, "rank 0=a slot=0:0\nRank 1=a slot=0:1\n"sv, 0, refused, "keyword-case@2"},
  {"RANK", m24, "RANK 0=a slot=0:0\n"sv, 0, refused, "keyword-case@1"},
  {"Slot", m24, "rank 0=a Slot=0:0\n"sv, 0, refused, "keyword-case@1"},
  {"rank 0 not first", m24, "rank 1=a slot=0:1\nrank 0=a slot=0:0\n"sv, 0, refused, "rank-0-not-first@2"},
  {"rank 0 twice", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:1\nrank 0=b slot=0:0\n"sv, 0, refused, "duplicate-rank@3"},
  {"duplicate without -n", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:1\nrank 1=b slot=0:2\n"sv, 0, refused, "duplicate-rank@3"},
  {"hole", m24, "rank 0=a slot=0:0\nrank 2=a slot=0:2\n"sv, 0, refused, "missing-rank@2"},
  {"no rank 0", m24, "rank 1=a slot=0:0\nrank 2=a slot=0:2\n"sv, 0, refused, "missing-rank@1"},
  {"more ranks than lines", m24, "rank 0=a slot=0:0\nrank 1=a slot=0:1\n"sv, 4, refused, "missing-rank@2"},
  {"empty file", m24, ""sv, 0, refused, "no-ranks@0"},
  {"only comments", m24, "# nothing\n"sv, 0, refused, "no-ranks@1"},
  {"rank 2^32", m24, "rank 0=a slot=0:0\nrank 4294967296=a slot=0:1\n"sv, 0, refused, "rank-number-too-large@2"},
  {"rank 2^31-1", m24, "rank 0=a slot=0:0\nrank 2147483647=a slot=0:1\n"sv, 0, refused, "rank-number-too-large@2"},
  {"rank -1", m24, "rank 0=a slot=0:0\nrank -1=a slot=0:1\n"sv, 0, refused, "bad-rank-number@2"},
  {"rank without a number", m24, "rank =a slot=0:0\n"sv, 0, refused, "bad-rank-number@1 no-ranks@1"},
  {"rank0", m24, "rank0=a slot=0:0\n"sv, 0, refused, "rank-not-separated@1"},
  {"no slot", m24, "rank 0=a slot=0:0\nrank 1=a\n"sv, 0, refused, "no-slot@2"},
  {"nothing behind slot=", m24, "rank 0=a slot=\n"sv, 0, refused, "no-slot@1"},
  {"no equals", m24, "rank 0 a slot=0:0\n"sv, 0, refused, "missing-equals@1"},
  {"no equals behind slot", m24, "rank 0=a slot 0:0\n"sv, 0, refused, "missing-equals@1"},
  {"two values", m24, "rank 0=a slot=0:0 slot=0:1\n"sv, 0, refused, "text-after-slots@1"},
  {"brackets", m24, "rank 0=a slot=[0]\n"sv, 0, refused, "bad-slot-number@1"},
  {"a dot in the cores", m24, "rank 0=a slot=0.1\n"sv, 0, refused, "bad-slot-number@1"},
  {"comment without newline", m24, "rank 0=a slot=0:0\n# end"sv, 0, refused, "comment-without-newline@2"},
  {"block comment inside an entry", m24, "rank 0=a /* x */ slot=0:0\n"sv, 0, refused, "block-comment-in-entry@1"},
  {"underscore", m24, "rank 0=a_b slot=0:0\n"sv, 0, refused, "underscore-in-name@1"},
  {"comma in a name", m24, "rank 0=a,b slot=0:0\n"sv, 0, refused, "bad-host-name@1"},
  {"FQDN that begins with a digit", m24, "rank 0=1a.x.org slot=0:0\n"sv, 0, refused, "digit-first-fqdn@1"},
  {"keyword as a name", m24, "rank 0=slot slot=0:0\n"sv, 0, refused, "keyword-as-name@1"},
  {"username as a name", m24, "rank 0=username slot=0:0\n"sv, 0, refused, "keyword-as-name@1"},
  {"a hostfile line", m24, "a slots=4\nrank 0=a slot=0:0\n"sv, 0, refused, "not-a-rank-line@1"},
  {"a host by itself", m24, "h9\nrank 0=a slot=0:0\n"sv, 0, refused, "not-a-rank-line@1"},
  {"odd letter in a name", m24, "rank 0=a\xC3\xA9 slot=0:0\n"sv, 0, refused, "bad-host-name@1"},
  // --- mpirun dies
  {"S5", m24, "rank 0=a slot=0:0\nrank 1=a slot=S5\n"sv, 0, crash, "package-not-there@2"},
  {"only separators", m24, "rank 0=a slot=;\n"sv, 0, crash, "empty-slot@1"},
  {"comma alone between semicolons", m24, "rank 0=a slot=0:0;,;1:0\n"sv, 0, crash, "empty-slot@1"},
  {"S alone", m24, "rank 0=a slot=S\n"sv, 0, crash, "empty-slot@1"},
  {"64 bytes", m24, "rank 0=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa slot=0:0\n"sv, 0, crash, "entry-over-63-bytes@1"},
  {"64 bytes of cores", m24, "rank 0=a slot=0:0;0:1;0:2;0:3;1:0;1:1;1:2;1:3;0:0;0:1;0:2;0:3;1:0;1:1;1:2\n"sv, 0, crash, "entry-over-63-bytes@1"},
  {"host behind //", m24, "rank 0=//a slot=0:0\n"sv, 0, crash, "no-host@1 no-ranks@1"},
  {"no host", m24, "rank 0=\n"sv, 0, crash, "no-host@1 no-ranks@1"},
};
// clang-format on

}  // namespace

std::span<const CheckRow> check_rows() { return rows; }

}  // namespace ddlrun::tests
