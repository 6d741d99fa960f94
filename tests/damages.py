"""Damages to the bytes of a file: what a disk, an editor or a copy that was cut off leave."""

import random


def damaged(data: bytes, others: list[bytes], r: random.Random) -> bytes:
    """Other content for a file; ``others`` are what its neighbours have."""
    size = len(data)
    match r.randrange(9):
        case 0:
            return data[: r.randrange(size)]
        case 1:
            return data + r.randbytes(r.randrange(1, 9))
        case 2:
            return r.choice(others)
        case 3:
            start = r.randrange(size)
            return data[:start] + data[start + r.randrange(1, 9) :]
        case 4:
            start = r.randrange(size)
            return data[:start] + r.randbytes(r.randrange(1, 64)) + data[start:]
        case 5:
            return b"" if r.randrange(2) else r.randbytes(size)
        case _:
            changed = bytearray(data)
            for _ in range(r.randrange(1, 4)):
                changed[r.randrange(size)] ^= 1 << r.randrange(8)
            return bytes(changed)
