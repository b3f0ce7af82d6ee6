"""check_verdicts.py FOLDER REPORT: every verdict in the JSON report of the class in FOLDER is what
FOLDER.made, make_class.sh's list, has for that submission: the checks that a mistake's header names
fail, a variant and the other lessons that were handed in pass, and everybody was judged. Prints what is
not so, and the counts; exit status 0: there is nothing."""
import json
import os
import sys

folder, report = sys.argv[1:]


def outcomes(lesson):
    """The lesson's checks by how they ended."""
    ended = {"passed": [], "failed": [], "skipped": [], "error": []}
    for check in lesson["checks"]:
        ended[check["outcome"]].append(f"{lesson['suite']}.{check['name']}")
    return ended


def wrong_verdict(record, handed_in, lesson, fails):
    """Why the record is not what a submission with these lessons deserves, of which one fails in these
    checks (none: it passes); an empty string: it is."""
    if record is None:
        return "is not in the report"
    if record.get("trouble") or not record["complete"]:
        return f"was not judged: {record.get('trouble', '')}"
    judged_lessons = {judged["lesson"]: judged for judged in record["lessons"]}
    for name in sorted(handed_in):
        if name not in judged_lessons:
            return f"was not judged in {name}"
        ended = outcomes(judged_lessons[name])
        if ended["error"]:
            return "could not be judged in " + " ".join(ended["error"])
        if name != lesson or not fails:
            if ended["failed"] or not ended["passed"]:
                return f"does not pass {name}: {' '.join(ended['failed'])}"
        elif missed := set(fails) - set(ended["failed"]):
            return f"passes {' '.join(sorted(missed))}; it fails {' '.join(ended['failed'])}"
    return ""


records = {r["submission"]["name"]: r for r in json.load(open(report))["submissions"]}
counts = {"mistakes": 0, "variants": 0}
wrong = 0
for line in open(f"{folder}.made"):
    student, lesson, file, *fails = line.split()
    why = wrong_verdict(records.get(student), os.listdir(f"{folder}/{student}"), lesson, fails)
    if why:
        print(f"{student}, {lesson} with {file}: {why}")
        wrong += 1
    else:
        counts[file.split("/")[0]] += 1
print(f"{len(records)} graded: {counts['mistakes']} mistakes failed, {counts['variants']} variants passed, "
      f"{wrong} were judged wrongly")
sys.exit(wrong > 0)
