"""Overlap's software CUDA device: `overlap-emulate PROGRAM ARGUMENTS...` runs CUDA without a GPU.

The device lies beside this file, as `cmake --install` puts it there. It is a program of its own:
nothing of it is loaded into this interpreter.
"""

import os
import sys


def main():
    """Becomes the device's program, with the same arguments."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "emulator", "emulate")
    os.execv(program, ["overlap-emulate", *sys.argv[1:]])
