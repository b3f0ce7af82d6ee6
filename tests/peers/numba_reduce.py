"""numba_reduce.py LIBRARY ROUNDS TYPE:LOG2...: what numba_reduce.sh says; LIBRARY is numba_reduce.cu."""
import ctypes
import statistics
import sys
import warnings

WARM_UP = 5  # rounds that do not count


def missing(what, error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" \n-^")]
    print(f"numba_reduce: {what}: {' '.join(lines) or type(error).__name__}")
    sys.exit(2)


try:
    import numba
    import numba_cuda
    import numpy as np
    from numba import cuda
except ImportError as error:
    missing(f"{sys.executable} has no numba-cuda (pip install numba-cuda; PYTHON=... is another Python)", error)

warnings.simplefilter("ignore")  # small grids


@cuda.reduce
def numba_sum(a, b):
    return a + b


def solution(name):
    function = getattr(ctypes.CDLL(sys.argv[1]), "sum_" + name)
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]

    def lesson_07(array, result):
        error = function(array.device_ctypes_pointer.value, array.size, result.device_ctypes_pointer.value)
        if error:
            sys.exit(f"numba_reduce: the solution returned cudaError_t {error}")

    return lesson_07


def measured(total, array, wanted):
    """Milliseconds of one call, the host's part in it included: the device has nothing else to do."""
    result = cuda.to_device(np.full(1, -1, array.dtype))
    begin, end = cuda.event(), cuda.event()
    cuda.synchronize()
    begin.record()
    total(array, result)
    end.record()
    end.synchronize()
    if (got := result.copy_to_host()[0]) != wanted:
        sys.exit(f"numba_reduce: {total.__name__}: {got} in place of {wanted}")
    return cuda.event_elapsed_time(begin, end)


def compare(name, power, rounds):
    host = np.random.default_rng(7).integers(0, 8, 1 << power, dtype=name)
    wanted = host.sum()
    array = cuda.to_device(host)

    def numba_total(array, result):
        numba_sum(array, res=result)

    ours, theirs = solution(name), numba_total
    times = {ours: [], theirs: []}
    calls = [ours, theirs]
    for _ in range(WARM_UP + rounds):
        for call in calls:
            times[call].append(measured(call, array, wanted))
        calls.reverse()
    slow, fast = times[theirs][WARM_UP:], times[ours][WARM_UP:]
    row = [f"{name} 2^{power}"]
    for milliseconds in (statistics.median(slow), statistics.median(fast)):
        row += [f"{milliseconds:.4f}", f"{array.nbytes / milliseconds / 1e6:.1f}"]
    ratios = [a / b for a, b in zip(slow, fast)]
    row += [f"{statistics.median(slow) / statistics.median(fast):.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}"]
    print("| " + " | ".join(row) + " |", flush=True)


try:
    device = cuda.get_current_device().name
except Exception as error:  # it has a class for each of its causes
    missing("no GPU that Numba can use", error)
try:
    numba_sum(np.arange(4))
except Exception as error:
    missing("Numba compiles nothing here", error)
device = device.decode() if isinstance(device, bytes) else device
print(f"{device}; Python {sys.version.split()[0]}, Numba {numba.__version__}, numba-cuda {numba_cuda.__version__};")
print(f"medians of {sys.argv[2]} calls each, by turns, each between two events of the device.\n")
print("| Sum of | Numba, ms | GB/s | lesson 07, ms | GB/s | times as fast | in a round |")
print("|---|---|---|---|---|---|---|")
for subject in sys.argv[3:]:
    kind, size = subject.split(":")
    compare(kind, int(size), int(sys.argv[2]))
