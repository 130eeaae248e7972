#!/bin/sh
# From nothing to a table: two samples of one synthetic problem, a classifier fitted on the first, three baselines,
# all of them evaluated on the second. Needs a shell and awk. Usage: tests/demo.sh MACROK FOLDER
set -eu

macrok=$1
folder=$2
k=3
rows=20000
shape="--instances $rows --labels 1000 --nnz 50 --avg-labels 8 --exponent 1.3 --seed 7"

show() {
    echo
    echo "\$ $*" | sed "s|$macrok|macrok|"
}
say_and_run() {
    show "$@"
    "$@"
}
# For steps whose own output would hide the table.
say_and_run_quietly() {
    echo "\$ $*" | sed "s|$macrok|macrok|"
    "$@" >/dev/null
}

launch=
if command -v mpirun >/dev/null 2>&1; then
    launch="mpirun -n 2"
fi

rm -rf "$folder"
mkdir -p "$folder"
# shellcheck disable=SC2086 # lists of words
{
    say_and_run_quietly "$macrok" synth "$folder/train.h5" $shape
    say_and_run_quietly "$macrok" synth "$folder/test.h5" $shape --first-row "$rows"
    say_and_run $launch "$macrok" fit --marginals "$folder/train.h5" --labels "$folder/train.h5" -k $k \
        --metric macro-f1 --out "$folder/macro-f1.h5" --json "$folder/fit.json"
}
echo
for strategy in top-k power-law macro-recall; do
    say_and_run_quietly "$macrok" baseline $strategy --labels "$folder/train.h5" -k $k --out "$folder/$strategy.h5"
done
for strategy in top-k power-law macro-recall macro-f1; do
    say_and_run_quietly "$macrok" evaluate "$folder/$strategy.h5" --marginals "$folder/test.h5" \
        --labels "$folder/test.h5" --json "$folder/$strategy.json"
done

cd "$folder"
echo
echo "k = $k, $rows test rows that were not fitted on; * marks the largest of a column"
awk '
function name(file) { sub(/.*\//, "", file); sub(/\.json$/, "", file); return file }
BEGIN { columns = split("instance-precision macro-precision macro-recall macro-f1 coverage", column, " ") }
FNR == 1 { strategy[++strategies] = name(FILENAME) }
/^    "[^"]*": \{/ { metric = $1; gsub(/[":]/, "", metric) }
/^      "mean":/ { value = $2; sub(/,/, "", value); mean[strategy[strategies], metric] = value + 0 }
END {
    line = sprintf("%-22s", "strategy")
    for (c = 1; c <= columns; c++) {
        width[c] = length(column[c]) + 3
        line = line sprintf("%" width[c] "s", column[c])
        for (s = 1; s <= strategies; s++) {
            if (!((strategy[s], column[c]) in mean)) { print "\n" strategy[s] ".json: no " column[c]; exit 1 }
            m = mean[strategy[s], column[c]]
            if (s == 1 || m > best[c]) best[c] = m
        }
    }
    print line
    gsub(/./, "-", line)
    print line
    for (s = 1; s <= strategies; s++) {
        printf "%-22s", strategy[s] == "macro-f1" ? "macro-f1 (Frank-Wolfe)" : strategy[s]
        for (c = 1; c <= columns; c++) {
            m = mean[strategy[s], column[c]]
            printf "%" (width[c] - 1) ".4f%s", m, m == best[c] ? "*" : " "
        }
        print ""
    }
    fitted = mean["macro-f1", "macro-f1"]
    top = mean["top-k", "macro-f1"]
    precision = mean["top-k", "instance-precision"] - mean["macro-f1", "instance-precision"]
    print ""
    if (fitted == best[4])
        printf "The classifier fitted for macro-F1 has the highest one: %.4f, where the k most probable labels have %.4f.\n", fitted, top
    else
        printf "A baseline has a higher macro-F1 (%.4f) on these rows than the classifier fitted for it (%.4f).\n", best[4], fitted
    if (precision > 0)
        printf "It gives up %.4f of instance precision, for which the k most probable labels are the best choice.\n", precision
}' top-k.json power-law.json macro-recall.json macro-f1.json
