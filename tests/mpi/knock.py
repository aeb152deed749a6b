#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""knock.py HOST:PORT TOKEN_FILE RANK SIZE: says to rank 0 what a rank says first, as ddl/tcp_handshake.hpp has it, with
openssl's command line for the HMAC. Prints rank 0's verdict, and whether rank 0 proved that it has the token."""
import os
import socket
import struct
import subprocess
import sys


def hmac(token, text):
    made = subprocess.run(["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:" + token.hex(), "-binary"],
                          input=text, stdout=subprocess.PIPE, check=True)
    return made.stdout


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            sys.exit(f"closed after {len(data)} of {count} bytes")
        data += more
    return data


host, port = sys.argv[1].rsplit(":", 1)
with open(sys.argv[2], "rb") as file:
    key = file.read().strip()
rank, size = int(sys.argv[3]), int(sys.argv[4])
with socket.create_connection((host, int(port)), timeout=10) as door:
    hello = read_exactly(door, 40)
    assert hello[:8] == b"libddl/1", hello[:8]
    nonce = os.urandom(32)
    said = hello[8:] + nonce + struct.pack("<IIQ", rank, size, 0)
    door.sendall(b"libddl/1" + nonce + struct.pack("<IIQ", rank, size, 0) + hmac(key, b"libddl/1 who connects" + said))
    answer = read_exactly(door, 40)
    verdict, number = struct.unpack("<II", answer[:8])
    proven = hmac(key, b"libddl/1 who listens" + said + answer[:8]) == answer[8:]
    print(f"verdict {verdict} size {number} {'proven' if proven else 'not proven'}")
