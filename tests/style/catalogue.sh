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
po/update --template | sed "s/charset=CHARSET/charset=UTF-8/" >"$template"
grep -q '^msgid "Why:  "' "$template" || {
    echo "po/update --template finds no sentences"
    exit 1
}
status=0
for catalogue in po/*.po; do
    msgcmp "$catalogue" "$template" || status=1
    msgfmt --check-format -o /dev/null "$catalogue" || status=1
done
[ $status -eq 0 ] || echo 'po/update adds what is new to the catalogue; translate it there.'
exit $status
