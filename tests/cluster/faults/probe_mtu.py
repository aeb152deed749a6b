# SPDX-License-Identifier: MIT
# probe_mtu.py HOST BYTES: does a datagram that may not be cut reach HOST? Its kernel says "port unreachable" if so.
import socket
import sys

probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
probe.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
probe.settimeout(1)
probe.connect((sys.argv[1], 40002))
try:
    probe.send(b"x" * int(sys.argv[2]))
    probe.recv(1)
except ConnectionRefusedError:
    sys.exit(0)
except OSError as problem:
    print(problem)
sys.exit(1)
