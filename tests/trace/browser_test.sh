#!/bin/sh
# browser_test.sh TIMELINE_TEST: what trace/timeline writes, in a real browser: the SVG is well-formed,
# every bar lies inside of it, the bars of one row do not lie over each other, its texts do not either;
# the JSON is what Perfetto reads. Exit status 0, 1, or 77 without Chromium.
set -eu
browser=$(command -v chromium || command -v chromium-browser) || exit 77
work=$(mktemp -d "${TMPDIR:-/tmp}/timeline.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
"$1" "$work"
{
    cat <<'END'
<!doctype html><meta charset="utf-8"><title></title><body style="margin:0"><script type="text/plain" id="svg">
END
    cat "$work/timeline.svg"
    echo '</script><script type="text/plain" id="json">'
    cat "$work/timeline.json"
    cat <<'END'
</script><script>
const wrong = [];
const check = (what, yes) => { if (!yes) wrong.push(what); };
const of = (id) => document.getElementById(id).textContent.trim();
const parsed = new DOMParser().parseFromString(of("svg"), "image/svg+xml");
check("well-formed", parsed.getElementsByTagName("parsererror").length === 0);
const svg = document.body.appendChild(document.importNode(parsed.documentElement, true));
const all = svg.viewBox.baseVal;
const inside = (b) => b.x >= -0.01 && b.y >= 0 && b.x + b.width <= all.width + 0.01 && b.y + b.height <= all.height;
const bars = [...svg.querySelectorAll("rect")].slice(1), boxes = bars.map((b) => b.getBBox());
const texts = [...svg.querySelectorAll("text")].map((t) => t.getBBox());
check("a bar for an engine and one for a stream", bars.length === 2 * 16);
check("bars inside", boxes.every(inside));
check("texts inside", texts.every(inside));
check("bars can be seen", boxes.every((b) => b.width > 0 && b.height >= 2));
const apart = (a, b) => a.x + a.width <= b.x + 0.02 || b.x + b.width <= a.x + 0.02 || a.y + a.height <= b.y || b.y + b.height <= a.y;
bars.forEach((bar, i) => bars.forEach((other, j) => {
  if (i < j && !bar.hasAttribute("fill-opacity")) check("bars apart", apart(boxes[i], boxes[j]));
}));
texts.forEach((t, i) => texts.forEach((u, j) => { if (i < j) check("texts apart", apart(t, u)); }));
check("texts beside bars", texts.slice(0, -1).every((t) => boxes.every((b) => apart(t, b))));
check("colours", new Set(bars.map((b) => b.getAttribute("fill"))).size === 4);
const events = JSON.parse(of("json")).traceEvents;
const slices = events.filter((e) => e.ph === "X"), names = events.filter((e) => e.ph === "M");
check("slices", slices.length === 16);
check("numbers", slices.every((e) => [e.ts, e.dur, e.pid, e.tid].every(Number.isFinite) && e.ts >= 0 && e.dur > 0));
check("named", slices.every((e) => ["process_name", "thread_name"].every((n) =>
  names.filter((m) => m.name === n && m.pid === e.pid && (n === "process_name" || m.tid === e.tid)).length === 1)));
check("two contexts", new Set(slices.map((e) => e.pid)).size === 2);
slices.forEach((a, i) => slices.forEach((b, j) => {
  if (i < j && a.tid === b.tid) check("slices apart", a.ts + a.dur <= b.ts + 1e-9 || b.ts + b.dur <= a.ts + 1e-9);
}));
document.title = wrong.length ? [...new Set(wrong)].join(", ") : "as it should be";
</script>
END
} >"$work/page.html"
# A browser that does not come up on a busy machine is called again; what a page says holds.
title=
for _ in 1 2 3 4 5; do
    rm -rf "$work/profile"
    HOME="$work/home" timeout -k 5 100 "$browser" --headless --no-sandbox --disable-gpu \
        --disable-dev-shm-usage --user-data-dir="$work/profile" --virtual-time-budget=20000 \
        --window-size=900,700 --screenshot="$work/picture.png" --dump-dom \
        "file://$work/page.html" >"$work/dom" 2>"$work/said" </dev/null || :
    title=$(grep -o '<title>[^<]*</title>' "$work/dom" | sed -n -e 's|</*title>||g' -e '1p') # of the page
    [ -z "$title" ] || break
done
[ -z "${2-}" ] || cp "$work/picture.png" "$work"/timeline.* "$2"
[ "$title" = 'as it should be' ] && exit 0
echo "not so: ${title:-the page was not run}"
exit 1
