"""cuDF: frames against pandas: joins, sums, functions of rows and of strings, strings, decimals, CSV and
JSON, arrays shared with CuPy. It leaves out what cuDF 26.10 is rightly named for: a scalar's page-locked
byte is set again while the copy of it is under way (masks, slices, iloc), and its parquet decoder."""
import io
import tempfile
from decimal import Decimal

import cudf
import cupy as cp
import numpy as np
import pandas as pd
from pandas.testing import assert_frame_equal, assert_series_equal

N = 1000
rng = np.random.default_rng(0)
there = pd.DataFrame({"k": rng.integers(0, 20, N), "v": rng.normal(size=N),
                      "w": rng.integers(-100, 100, N).astype("int32"),
                      "s": rng.choice(["apple", "pear", "fig", "banana split", "kiwi"], N)})
here = cudf.from_pandas(there)


def same(a, b):
    a = a.to_pandas()
    check = assert_frame_equal if isinstance(b, pd.DataFrame) else assert_series_equal
    check(a, b, check_dtype=False, check_names=False)


def in_order(frame):
    return frame.sort_values(list(frame.columns)).reset_index(drop=True)


other = pd.DataFrame({"s": ["apple", "fig", "none"], "z": [10, 20, 30]})
for how in ["inner", "leftsemi", "leftanti"]:
    joined = here.merge(cudf.from_pandas(other), on="s", how=how).to_pandas()
    if how == "inner":
        wanted = there.merge(other, on="s")
    else:
        wanted = there[there.s.isin(other.s) == (how == "leftsemi")]
    assert_frame_equal(in_order(joined), in_order(wanted)[list(joined.columns)], check_dtype=False)

same(here.v * 2 + here.w, there.v * 2 + there.w)
same(here.w > 0, there.w > 0)
assert np.isclose(float(here.v.sum()), there.v.sum()) and int(here.w.max()) == there.w.max()
lists = here.groupby("k")["w"].agg("collect").to_pandas().map(sorted)
assert {k: list(v) for k, v in lists.items()} == there.groupby("k")["w"].agg(sorted).to_dict()
same(here.w.ewm(alpha=0.3).mean(), there.w.ewm(alpha=0.3).mean())


def of_row(row):
    return row["w"] * 2 + row["k"] if row["w"] > 0 else -row["k"]


def of_string(row):
    return len(row["s"]) + (1 if row["s"].startswith("a") else 0)


same(here.apply(of_row, axis=1), there.apply(of_row, axis=1))
same(here.w.apply(lambda x: x**2 + 1 if x > 0 else x), there.w.apply(lambda x: x**2 + 1 if x > 0 else x))
same(here[["s"]].apply(of_string, axis=1), there[["s"]].apply(of_string, axis=1))

for act in [lambda s: s.str.upper(), lambda s: s.str.len(), lambda s: s.str.contains("an"),
            lambda s: s.str.replace("a", "A", regex=False),
            lambda s: s.str.count(r"[a-c]"), lambda s: s.str.split(" ", expand=True)]:
    same(act(here.s), act(there.s).fillna(np.nan))

amounts = cudf.Series([Decimal("1.25"), Decimal("2.50")])
assert (amounts + amounts).to_arrow().to_pylist() == [Decimal("2.50"), Decimal("5.00")]

with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    there.to_csv(file.name, index=False)
    same(cudf.read_csv(file.name), pd.read_csv(file.name))
text = there[["k", "w", "s"]].to_json(orient="records", lines=True)
same(cudf.read_json(io.StringIO(text), lines=True), there[["k", "w", "s"]])

assert np.array_equal(cp.asnumpy(here[["v"]].to_cupy())[:, 0], there.v)
assert cudf.Series(cp.arange(N)).to_pandas().tolist() == list(range(N))
print("PASSED")
