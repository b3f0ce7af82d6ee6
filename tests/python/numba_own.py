"""numba_own.py PART EMULATE: numba-cuda's own tests of the modules of PART (cudadrv, cudapy) by
EMULATE, a process each, but for what numba_modules.txt excepts: a line for each module, then what
failed. Exit status 0, or 1 where a test failed, an excepted one does not exist, or a module is not in
the list.

What the device finds in these tests is not looked at: they leave work unfinished and read memory that
they never wrote, as tests may.
"""
import importlib
import inspect
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TESTS = "numba.cuda.tests"


def excepted():
    """Per module of the list its exceptions, by name."""
    modules = {}
    for line in (HERE / "numba_modules.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("- "):
            modules[module].append(line[2:].split(": ")[0])
        elif line and not line.startswith("#"):
            module = line
            modules[module] = []
    return modules


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def run(module):
    """In this process. Prints what failed, and how many of each."""
    without = excepted()[module]
    there = importlib.import_module(f"{TESTS}.{module}")
    found = list(tests_of(unittest.defaultTestLoader.loadTestsFromModule(there)))
    found += [unittest.FunctionTestCase(test) for name, test in vars(there).items()
              if name.startswith("test_") and inspect.isfunction(test)]
    names = {name for test in found for name in test.id().split(".")[-2:]}
    strange = [name for name in without if name not in names and name != "all"]
    suite = unittest.TestSuite(test for test in found if "all" not in without and
                               not set(test.id().split(".")[-2:]) & set(without))
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(suite)
    for name in strange:
        print(f"no test is called {name}, which is excepted")
    for test, _ in result.failures + result.errors:
        print(f"failed: {test.id()}")
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed, "
          f"{len(result.skipped)} skipped, {len(found) - suite.countTestCases()} excepted")
    return bad > 0 or bool(strange)


def run_all(part, emulate):
    import numba_cuda
    folder = pathlib.Path(numba_cuda.__path__[0]) / "numba/cuda/tests" / part
    there = sorted(f"{part}.{path.stem}" for path in folder.glob("test_*.py"))
    listed = [module for module in excepted() if module.startswith(part + ".")]
    failed = sorted(set(there) ^ set(listed))
    for module in failed:
        print(f"{module}: in the list or in the package, not in both")
    for module in listed:
        done = subprocess.run([emulate, sys.executable, __file__, module], capture_output=True,
                              text=True, check=False)
        lines = done.stdout.strip().splitlines() or [f"ended with {done.returncode}"]
        print(f"{module}: {lines[-1]}", flush=True)
        if done.returncode != 0:
            failed.append(module)
            print("\n".join(lines[:-1] + done.stderr.splitlines()[-30:]), flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]) if len(sys.argv) == 2 else run_all(sys.argv[1], sys.argv[2]))
