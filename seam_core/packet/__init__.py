"""The evidence packet: a report, the rows behind each of its numbers, and the bytes it was computed from, in one zip.

Whoever gets it can compute the report again, byte for byte, on another machine and after the logs have grown.
"""

from seam_core.packet.checking import Verdict, verify_packet
from seam_core.packet.making import LOGS_MAX, Asked, Made, make_packet
from seam_core.packet.recipe import PacketError

__all__ = ["LOGS_MAX", "Asked", "Made", "PacketError", "Verdict", "make_packet", "verify_packet"]
