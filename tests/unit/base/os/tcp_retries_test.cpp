// SPDX-License-Identifier: MIT
#include "base/os/tcp_retries.hpp"

#include <doctest/doctest.h>

#include <string>

using ddlrun::find_tcp_retries;

namespace {

// Lines as proc_net_tcp.txt of the kernel's documentation describes them; little-endian.
constexpr std::string_view table =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 "
    "0 10 0\n"
    "   1: 0200000A:0016 0100000A:C350 01 00000040:00000000 01:00000A28 00000009     0        0 2 1 0 100 0 "
    "0 10 0\n"
    "   2: 0200000A:0016 0300000A:C350 01 00000040:00000000 04:00000A28 00000000     0        6 3 1 0 100 0 "
    "0 10 0\n"
    "   3: 0200000A:0016 0400000A:C350 01 00000000:00000000 02:00000A28 00000000     0        0 4 1 0 100 0 "
    "0 10 0\n";
constexpr std::string_view table6 =
    "   1: 0000000000000000FFFF00000200000A:0016 0000000000000000FFFF00000100000A:C350 01 00000040:00000000 "
    "01:00000A28 0000000B     0        0 2 1 0 100 0 0 10 0\n"
    "   2: 000080FE00000000000000000200000A:0016 000080FE00000000000000000100000A:C351 01 00000040:00000000 "
    "01:00000A28 00000007     0        0 2 1 0 100 0 0 10 0\n";

}  // namespace

TEST_SUITE_BEGIN("base/os/tcp_retries");

TEST_CASE("the retries of the connection that sshd names, while it repeats") {
  struct Row {
    std::string_view table;
    std::string connection;
    int retries;
  };
  for (const Row& row :
       {Row{table, "10.0.0.1 50000 10.0.0.2 22", 9}, Row{table, "10.0.0.3 50000 10.0.0.2 22", 6},
        Row{table, "10.0.0.4 50000 10.0.0.2 22", 0}, Row{table, "10.0.0.1 50001 10.0.0.2 22", 0},
        Row{table, "10.0.0.1 50000 10.0.0.2 2222", 0}, Row{table, "10.0.0.5 50000 10.0.0.2 22", 0},
        Row{table, "", 0}, Row{table, "a b c d", 0}, Row{table, "10.0.0.1 50000", 0},
        Row{table6, "10.0.0.1 50000 10.0.0.2 22", 11},
        Row{table6, "fe80::a00:1%eth0 50001 fe80::a00:2 22", 7}, Row{"", "10.0.0.1 1 10.0.0.2 2", 0}}) {
    CAPTURE(row.connection);
    CHECK(find_tcp_retries(row.table, row.connection) == row.retries);
  }
}

TEST_SUITE_END();
