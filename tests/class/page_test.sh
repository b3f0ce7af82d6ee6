#!/bin/sh
# page_test.sh RENDER ROOT [FOLDER]: the page of a class in a real browser, at 3 and at 300 students:
# it is drawn, it searches, filters and sorts, by keyboard too, it opens what a link leads to, and it
# prints everybody. FOLDER keeps the pictures. Exit status 0, 1, or 77 without Chromium.
set -eu
render=$1 root=$2 keep=${3-}
browser=$(command -v chromium || command -v chromium-browser) || exit 77
work=$(mktemp -d "${TMPDIR:-/tmp}/page.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM

browse()
{
    # A private display, cache and home; the sandbox needs rights that a container may not give.
    rm -rf "$work/profile"
    HOME="$work/home" timeout -k 5 100 "$browser" --headless --no-sandbox --disable-gpu \
        --disable-dev-shm-usage --user-data-dir="$work/profile" --hide-scrollbars \
        --virtual-time-budget=20000 "$@" 2>"$work/said" </dev/null
}
# A browser that does not come up on a busy machine is called again; what a page says holds.
attempts='1 2 3 4 5'

# What a person does, and what has to be seen then; the answer is the page's title.
cat >"$work/person.js" <<'END'
const seen = [];
const check = (what, yes) => { if (!yes) seen.push(what); };
const rows = () => [...document.querySelectorAll("#students tbody tr")].filter((r) => !r.hidden);
const type = (id, value) => {
  const field = document.getElementById(id);
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const all = document.querySelectorAll("#students tbody tr").length;
check("all are shown", rows().length === all && all >= 3);
check("the count says so", document.getElementById("count").textContent === `${all} of ${all} shown`);
type("search", "lovelace");
check("a name is found", rows().length > 0 && rows().every((r) => /Lovelace/.test(r.textContent)));
check("its details too", [...document.querySelectorAll("details[id]")].filter((d) => !d.hidden).length === rows().length);
type("search", "nothingleaks leak");
check("a finding is found", rows().length > 0 && rows().every((r) => /Hopper/.test(r.textContent)));
type("search", "");
type("which", "full");
type("lesson", "3");
check("all points of a lesson", rows().length > 0 && rows().every((r) => r.cells[3].classList.contains("full")));
type("which", "all");
const head = document.querySelectorAll("#students thead button");
head[1].focus();
check("a button has the focus", document.activeElement === head[1]);
head[1].click();
const points = rows().map((r) => Number(r.cells[1].dataset.value));
check("sorted up", points.every((p, i) => i === 0 || points[i - 1] <= p));
check("it says how", head[1].closest("th").getAttribute("aria-sort") === "ascending");
head[1].click();
check("sorted down", rows().map((r) => Number(r.cells[1].dataset.value)).every((p, i, a) => i === 0 || a[i - 1] >= p));
head[0].click();
check("sorted by name", rows().map((r) => r.cells[0].textContent.toLowerCase()).every((p, i, a) => i === 0 || a[i - 1] <= p));
check("one order at a time", document.querySelectorAll("[aria-sort]").length === 1);
check("all can be reached", [...document.querySelectorAll("a, button, input, select, summary")].every((e) => e.tabIndex >= 0));
check("fields have labels", [...document.querySelectorAll("input, select")].every((e) => e.labels.length === 1));
check("no script of a student's ran", !document.title.includes("1"));
check("nothing is wider than the page", document.documentElement.scrollWidth <= innerWidth);
const link = document.querySelector("#students a");
location.hash = link.getAttribute("href");
setTimeout(() => {
  check("a link opens the details", document.querySelector(link.getAttribute("href")).open);
  dispatchEvent(new Event("beforeprint"));
  check("print shows everybody", [...document.querySelectorAll("details[id]")].every((d) => d.open));
  document.title = seen.length === 0 ? "as expected" : "not so: " + seen.join(", ");
}, 50);
END

failures=0
for students in 3 300; do
    python3 - "$root/tests/grader/golden/class.json" "$students" "$work/class.json" <<'END'
import copy, json, sys
one = json.load(open(sys.argv[1]))
some = one["submissions"]
one["submissions"] = []
for i in range(int(sys.argv[2])):
    record = copy.deepcopy(some[i % (3 if int(sys.argv[2]) == 3 else 4)])
    record["submission"]["key"] += str(i)
    if int(sys.argv[2]) > 3: record["submission"]["name"] += " the %dth" % (i // 4)
    one["submissions"].append(record)
json.dump(one, open(sys.argv[3], "w"))
END
    "$render" "$work/class.json" "html:$work/page$students.html"
    {
        cat "$work/page$students.html"
        echo '<script>'
        cat "$work/person.js"
        echo '</script>'
    } >"$work/visited.html"
    for _ in $attempts; do
        title=$(browse --dump-dom "file://$work/visited.html" |
            sed -n 's,.*<title>\(.*\)</title>.*,\1,p')
        case $title in 'as expected' | 'not so'*) break ;; esac
    done
    if [ "$title" != 'as expected' ]; then
        echo "$students students: ${title:-no title}"
        tail -n 3 "$work/said"
        failures=1
    fi
    # A page that is not drawn is one colour, and packs into next to nothing.
    for _ in $attempts; do
        browse --window-size=1300,1400 --screenshot="$work/page$students.png" \
            "file://$work/page$students.html" || continue
        drawn=$(wc -c <"$work/page$students.png") || continue
        [ "$drawn" -lt 40000 ] || break
    done
    if [ "${drawn:-0}" -lt 40000 ]; then
        echo "$students students: the picture is empty"
        failures=1
    fi
    [ -z "$keep" ] || cp "$work/page$students.png" "$work/page$students.html" "$keep"
done
exit "$failures"
