"""Measures NVIDIA's runtime, as it is linked statically, for emulator/front/stripped.c.

    python3 emulator/front/runtimes.py ARCHIVE... > emulator/front/runtimes.def

ARCHIVE is the libcudart_static.a of one version, as in the wheels nvidia-cuda-runtime (its folder's
name ends with the version, as in 13.4.92/libcudart_static.a). Of the runtime only this is kept: how
long its code is, where its public functions begin, and checksums of a few pieces of it, so that it
is recognised in a program that was stripped. No instruction of it is read.
"""
import pathlib
import struct
import sys

PIECES, PIECE = 24, 32
PREFIXES = ("cuda", "__cuda")
# Relocations of x86-64 whose instruction the linker may rewrite: R_X86_64_GOTPCRELX and the like.
REWRITTEN, BEFORE = (41, 42), 3
# R_X86_64_TLSGD and _TLSLD, whose call the linker may rewrite as well.
THREADS, AROUND = (19, 20), (4, 16)
WIDE = (1, 24, 25)  # R_X86_64_64, _PC64, _GOTOFF64


def member(archive):
    """Returns the one object in an archive (ar(5))."""
    at, found = 8, []
    while at + 60 <= len(archive):
        name, size = archive[at:at + 16].rstrip(), int(archive[at + 48:at + 58])
        if name not in (b"/", b"//"):
            found.append(archive[at + 60:at + 60 + size])
        at += 60 + size + size % 2
    assert len(found) == 1, "the runtime is one object in all versions that are known"
    return found[0]


class Runtime:
    def __init__(self, path):
        self.version = pathlib.Path(path).parent.name
        self.object = member(pathlib.Path(path).read_bytes())
        at, = struct.unpack_from("<Q", self.object, 0x28)
        count, = struct.unpack_from("<H", self.object, 0x3c)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.object, at + 64 * i)
                         for i in range(count)]
        self.functions = self.find_functions()
        self.code = self.bytes_of(self.sections[self.text])
        self.fixed = self.find_fixed()

    def bytes_of(self, section):
        return self.object[section[4]:section[4] + section[5]]

    def find_functions(self):
        table = next(s for s in self.sections if s[1] == 2)  # SHT_SYMTAB
        names = self.bytes_of(self.sections[table[6]])
        found, places = {}, set()
        for name, info, _, section, value, _ in struct.iter_unpack("<IBBHQQ", self.bytes_of(table)):
            text = names[name:names.index(b"\0", name)].decode()
            if info == 0x12 and section != 0 and text.startswith(PREFIXES):  # global, a function
                found[text] = value
                places.add(section)
        self.text, = places  # all of them are in one section, which linkers keep as it is
        return found

    def find_fixed(self):
        """Says of each byte of the code whether it is the same wherever it is linked."""
        fixed = bytearray(b"\1" * len(self.code))
        for section in self.sections:
            if section[1] != 4 or section[7] != self.text:  # SHT_RELA
                continue
            for at, info, _ in struct.iter_unpack("<QQq", self.bytes_of(section)):
                kind = info & 0xffffffff
                first = max(0, at - BEFORE) if kind in REWRITTEN else at
                end = at + (8 if kind in WIDE else 4)
                if kind in THREADS:
                    first, end = max(0, at - AROUND[0]), at + AROUND[1]
                fixed[first:end] = bytes(end - first)
        return fixed

    def pieces(self):
        """Yields the places of pieces that are fixed, spread over the code."""
        last = -PIECE
        for k in range(PIECES):
            at = max(last + PIECE, k * len(self.code) // PIECES // 16 * 16)
            while not (all(self.fixed[at:at + PIECE]) and len(set(self.code[at:at + PIECE])) > 12):
                at += 16
            yield at
            last = at

    def sum(self, at):
        value = 0
        for word, in struct.iter_unpack("<Q", self.code[at:at + PIECE]):
            value = (value ^ word) * 0x9e3779b97f4a7c15 % 2**64
            value ^= value >> 32
        return value


def main():
    runtimes = [Runtime(path) for path in sys.argv[1:]]
    names = sorted(set().union(*(runtime.functions for runtime in runtimes)))
    print("/* Made by runtimes.py: see there.")
    print(" *   RUNTIME(version, its name, bytes of its code)")
    print(" *   PIECE(row of that table, place in the code, checksum)")
    print(" *   FUNCTION(name, place in the code of each version or NONE) */")
    for runtime in runtimes:
        major, minor, _ = runtime.version.split(".")
        number = int(major) * 1000 + int(minor) * 10
        print(f'RUNTIME({number}, "{runtime.version}", {len(runtime.code)})')
    for k, runtime in enumerate(runtimes):
        for at in runtime.pieces():
            print(f"PIECE({k}, {at:#x}, {runtime.sum(at):#x})")
    for name in names:
        places = (runtime.functions.get(name) for runtime in runtimes)
        print(f"FUNCTION({name}, {', '.join('NONE' if p is None else hex(p) for p in places)})")


main()
