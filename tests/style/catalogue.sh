#!/bin/sh
# catalogue.sh ROOT: every sentence in the sources has its translation in each of po/*.po, with the
# values that the English one prints.
# Exit status 0, 1 with the sentences, 77 where gettext's tools are missing.
set -eu
cd "$1"
for tool in xgettext msgcmp msgfmt; do
    command -v $tool >/dev/null || {
        echo "skipped: no $tool here" >&2
        exit 77
    }
done
work=$(mktemp -d)
template=$work/sentences.pot
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
po/update --template | sed "s/charset=CHARSET/charset=UTF-8/" >"$template"
grep -q '^msgid "Why:  "' "$template" || {
    echo "po/update --template finds no sentences"
    exit 1
}
status=0
for catalogue in po/*.po; do
    msgcmp "$catalogue" "$template" || status=1
    msgfmt --check-format -o /dev/null "$catalogue" || status=1
    # The sentences of findings: the same {fields}, in any order, and as many [options].
    msgattrib --no-wrap --no-obsolete "$catalogue" | awk -v catalogue="$catalogue" '
        function fields(line, copy, kind, found, list, n, i, j, t)
        {
            n = 0
            copy = line
            while (match(copy, /\{[a-z0-9.]+\}|\[/)) {
                list[++n] = substr(copy, RSTART, RLENGTH)
                copy = substr(copy, RSTART + RLENGTH)
            }
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
                    t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
                }
            found = ""
            for (i = 1; i <= n; i++) found = found list[i]
            return found
        }
        /^msgid / { id = $0 }
        /^msgstr / && id ~ /\{[a-z]/ && fields(id) != fields($0) {
            print catalogue ": other fields than in English: " $0
            bad = 1
        }
        END { exit bad }' || status=1
done
[ $status -eq 0 ] || echo 'po/update adds what is new to the catalogue; translate it there.'
exit $status
