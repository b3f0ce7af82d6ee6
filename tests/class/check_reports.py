"""check_reports.py ROOT FOLDER: the reports in FOLDER, written by class_test.sh's part "reports", hold
to their formats: JSON Schemas in docs/schemas/, XML and CSV that parse, pages that load nothing."""
import base64
import csv
import glob
import html.parser
import json
import sys
import xml.etree.ElementTree as xml

import jsonschema

root, folder = sys.argv[1:]


def validate(data, name):
    schema = json.load(open(f"{root}/docs/schemas/{name}.schema.json"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(data, schema)


def each(pattern):
    paths = sorted(glob.glob(f"{folder}/{pattern}"))
    assert len(paths) == 4, (pattern, paths)
    for path in paths:
        yield open(path, encoding="utf-8").read()


def json_reports():
    whole = json.load(open(f"{folder}/class.json"))
    validate(whole, "overlap")
    assert [r["score"] for r in whole["submissions"]] == [5, 1, 4, 0], whole
    for text in each("gradescope/*.json"):
        data = json.loads(text)
        validate(data, "gradescope")
        assert data["score"] == sum(t["score"] for t in data["tests"])
        assert "--seed=1" in data["output"]
    for text in each("github/*.txt"):
        assert text.startswith("result=") and text.count("\n") == 1
        data = json.loads(base64.b64decode(text[7:-1], validate=True))
        validate(data, "github-classroom")
        assert all(t["max_score"] > 0 for t in data["tests"])
    for text in each("autolab/*.json"):
        assert text.count("\n") == 1
        validate(json.loads(text), "autolab")


def tables():
    canvas = list(csv.reader(open(f"{folder}/canvas.csv", newline="")))
    assert canvas[0][:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert canvas[1][0].strip() == "Points Possible"
    assert [row[0] for row in canvas[2:]] == ["ada", "bad", "grace", "none"]
    assert len({len(row) for row in canvas}) == 1
    moodle = list(csv.DictReader(open(f"{folder}/moodle.csv", newline="")))
    assert [float(row["Grade"]) for row in moodle] == [5, 1, 4, 0]
    assert "01_sum" in moodle[2]["Feedback comments"]
    suites = xml.parse(f"{folder}/junit.xml").getroot()
    for suite in suites:
        assert int(suite.get("tests")) == len(suite)
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert {suite.get("name") for suite in suites} >= {"ada.Sum", "grace.Twice"}


class Page(html.parser.HTMLParser):
    """Every element is closed, every id is there once, every link leads into the page."""

    def __init__(self, path):
        super().__init__()
        self.open, self.ids, self.links, self.loads = [], [], [], []
        self.feed(open(path, encoding="utf-8").read())
        assert not self.open, (path, self.open)
        assert len(self.ids) == len(set(self.ids)), path
        assert set(self.links) <= set(self.ids), path
        assert not self.loads, (path, self.loads)

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "input", "link", "br", "img"):
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value)
            if key == "href":
                self.links.append(value[1:] if value.startswith("#") else value)
            if key == "src" or tag == "link":
                self.loads.append((tag, value))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()


def pages():
    Page(f"{folder}/page.html")
    for text in each("pages/*.html"):
        assert sum(f"<h1>{name}</h1>" in text for name in ("ada", "bad", "grace", "none")) == 1
    text = open(f"{folder}/pages/grace.html").read()
    Page(f"{folder}/pages/grace.html")
    assert "int sum_array(const int *values, size_t count, int *result)" in text


json_reports()
tables()
pages()
