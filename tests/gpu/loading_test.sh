#!/bin/sh
# loading_test.sh EMULATE PROGRAM ANSWERS [FIRST LAST ORDER]: of the programs in loading.cu, the
# software device has to find "kernel loaded too late" in those that an H200 does not end, by
# ANSWERS, and nothing in the others. Without FIRST every other program, each in one of three orders.
set -u
emulate=$1 program=$2 answers=$3
first=${4:-1} last=${5:-320} given=${6:-}
wrong=0 asked=0

while read -r k answer; do
    if [ "$k" -lt "$first" ] || [ "$k" -gt "$last" ]; then continue; fi
    order=$given
    if [ -z "$order" ]; then
        if [ $((k % 2)) -ne 0 ]; then continue; fi
        case $((k % 3)) in
        0) order=latest ;;
        1) order=earliest ;;
        *) order=random:$k ;;
        esac
    fi
    said=$("$emulate" --order="$order" "$program" "$k" 2>&1 </dev/null)
    status=$?
    case $said in
    *"1 finding: kernel loaded too late"* | *" findings: kernel loaded too late"*) found=hangs ;;
    *) found=ends ;;
    esac
    if [ "$found" = ends ] && [ "$status" -ne 0 ]; then found="ends with $status: $said"; fi
    asked=$((asked + 1))
    if [ "$found" = "$answer" ]; then continue; fi
    echo "program $k in order $order: an H200 says $answer, the device $found"
    wrong=$((wrong + 1))
done <"$answers"
echo "$asked programs, $wrong with another answer"
[ "$asked" -gt 0 ] && [ "$wrong" -eq 0 ]
