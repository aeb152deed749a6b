#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says what a rank says first, as ddl/tcp_handshake.hpp has it, with openssl's command line for the HMAC.
knock.py HOST:PORT TOKEN_FILE RANK SIZE   as that rank to rank 0; prints the verdict, and whether rank 0 has the token
knock.py HOST:PORT TOKEN_FILE             as rank 0, to one rank: welcomes it; prints whether that has the token"""
import os
import socket
import struct
import subprocess
import sys

GREETING = b"libddl/1"


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


def proof_of(token, said):
    return hmac(token, b"libddl/1 who connects" + said)


def answer_of(token, said, verdict):
    return hmac(token, b"libddl/1 who listens" + said + verdict)


def word(is_right):
    return "right HMAC" if is_right else "wrong HMAC"


def knock(address, token, rank, size):
    with socket.create_connection(address, timeout=10) as door:
        hello = read_exactly(door, 40)
        assert hello[:8] == GREETING, hello[:8]
        mine = os.urandom(32) + struct.pack("<IIQ", rank, size, 0)
        said = hello[8:] + mine
        door.sendall(GREETING + mine + proof_of(token, said))
        answer = read_exactly(door, 40)
        verdict, number = struct.unpack("<II", answer[:8])
        print(f"verdict {verdict} size {number} {word(answer_of(token, said, answer[:8]) == answer[8:])}")


def listen(address, token):
    with socket.create_server(address) as door:
        door.settimeout(10)
        rank, _ = door.accept()
        with rank:
            nonce = os.urandom(32)
            rank.sendall(GREETING + nonce)
            proof = read_exactly(rank, 88)
            said = nonce + proof[8:56]
            verdict = struct.pack("<II", 0, 2)
            rank.sendall(verdict + answer_of(token, said, verdict))
            print(word(proof_of(token, said) == proof[56:]))


host, port = sys.argv[1].rsplit(":", 1)
with open(sys.argv[2], "rb") as file:
    key = file.read().strip()
if len(sys.argv) > 3:
    knock((host, int(port)), key, int(sys.argv[3]), int(sys.argv[4]))
else:
    listen((host, int(port)), key)
