# Counts texts in the packets of some TCP ports on loopback. Its first line of input is JSON: ports and texts. It tells
# `ready`, and at the end of the input how many packets had each text.
import ctypes
import json
import select
import socket
import struct
import sys

ETH_P_ALL = 0x0003
SO_ATTACH_FILTER = 26
SO_RCVBUFFORCE = 33
SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING = 263, 6, 23
# Instructions of classic BPF.
LOAD_HALF, LOAD_BYTE, LOAD_HALF_AT_X, IP_HEADER_TO_X, JUMP_IF_EQUAL, RETURN = 0x28, 0x30, 0x48, 0xB1, 0x15, 0x06


def program(ports):
    """Takes TCP over IPv4 with one of these ports as its source or destination."""
    count = len(ports)
    drop = 7 + 2 * count
    code = [(LOAD_HALF, 0, 0, 12), (JUMP_IF_EQUAL, 0, drop - 2, 0x0800), (LOAD_BYTE, 0, 0, 23)]
    code += [(JUMP_IF_EQUAL, 0, drop - 4, socket.IPPROTO_TCP), (IP_HEADER_TO_X, 0, 0, 14)]
    for offset in (14, 16):
        code.append((LOAD_HALF_AT_X, 0, 0, offset))
        for port in ports:
            code.append((JUMP_IF_EQUAL, drop - len(code), 0, port))
    return code + [(RETURN, 0, 0, 0), (RETURN, 0, 0, 0xFFFFFFFF)]


def attach(capture, code):
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in code)
    buffer = ctypes.create_string_buffer(packed)
    capture.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", len(code), ctypes.addressof(buffer)))


wanted = json.loads(sys.stdin.readline())
texts = [text.encode() for text in wanted["texts"]]
counts = [0] * len(texts)
packets = 0
capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
capture.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 * 1024 * 1024)
# Loopback shows each packet as it leaves and as it arrives.
capture.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
attach(capture, program(wanted["ports"]))
capture.bind(("lo", 0))
print("ready", flush=True)
capture.setblocking(False)
# One buffer: to allocate one for each packet takes longer than to read it.
packet = bytearray(1 << 18)


def read(most):
    """Counts the texts in so many packets. False: there are no more now."""
    global packets
    for _ in range(most):
        try:
            length = capture.recv_into(packet)
        except BlockingIOError:
            return False
        packets += 1
        for at, text in enumerate(texts):
            if packet.find(text, 0, length) >= 0:
                counts[at] += 1
    return True


while True:
    readable, _, _ = select.select([capture, sys.stdin], [], [])
    if sys.stdin in readable:
        break
    read(1000)
# Connections that go on must not keep it busy for ever: what is in the queue now is the end.
attach(capture, [(RETURN, 0, 0, 0)])
while read(1000):
    pass
_, lost = struct.unpack("II", capture.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
print(json.dumps({"packets": packets, "lost": lost, "counts": counts}), flush=True)
