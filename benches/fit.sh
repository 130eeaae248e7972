#!/bin/sh
# Times `macrok fit` on synthetic data, from the JSON it writes. Usage: benches/fit.sh MACROK FOLDER
set -eu

macrok=$1
folder=$2
mkdir -p "$folder"
"$macrok" synth "$folder/data.h5" --instances 50000 --labels 4000 --nnz 100 --avg-labels 5 --force >/dev/null

number() { awk -v name="\"$1\":" '$1 == name { sub(/,/, "", $2); print $2; exit }' "$folder/fit.json"; }

echo "50,000 instances x 4,000 labels, 100 marginals a row, macro-f1 at 5, one process; wall seconds"
printf '%5s %11s %9s %9s %9s %9s %9s\n' run iterations load fit oracle search total
for run in 1 2 3; do
    "$macrok" fit --marginals "$folder/data.h5" --labels "$folder/data.h5" -k 5 --metric macro-f1 \
        --out "$folder/clf.h5" --json "$folder/fit.json" --force >/dev/null
    printf '%5s %11s %9.3f %9.3f %9.3f %9.3f %9.3f\n' "$run" "$(number iterations)" "$(number load)" \
        "$(number fit)" "$(number oracle)" "$(number search)" "$(number total)"
done
