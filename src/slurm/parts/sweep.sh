
# The metrics to fit (separated by semicolons, because formulas have spaces), and the values of k.
IFS=';' read -ra metrics <<<"${MACROK_METRICS:-macro-f1;macro-recall;macro-precision}"
IFS=' ' read -ra ks <<<"${MACROK_KS:-1 3 5}"
folder=${MACROK_OUT:-sweep}
# Further options of sbatch for each job of the array.
IFS=' ' read -ra options <<<"${MACROK_SBATCH:-}"
columns=(instance-precision macro-precision macro-recall macro-f1 coverage)

# The names of the files of the fit with this number, without endings.
files() {
    local metric=${metrics[$1 / ${#ks[@]}]}
    echo "$folder/$1-${metric//[^A-Za-z0-9-]/_}-k${ks[$1 % ${#ks[@]}]}"
}

# Submits the array, and the job that waits for it.
submit() {
    local last=$((${#metrics[@]} * ${#ks[@]} - 1)) array table name
    mkdir -p "$folder" || exit 1
    # Within a job, its variables would act as options of the next.
    for name in "${!SLURM_@}"; do
        [ "$name" = SLURM_CONF ] || unset "$name"
    done
    array=$(sbatch --parsable --array="0-$last" --output="$folder/%x-%A_%a.out" "${options[@]}" \
        "$0" member "$@") || exit 1
    array=${array%%;*}
    table=$(sbatch --parsable --dependency="afterany:$array" --job-name=macrok-sweep-table --nodes=1 \
        --ntasks-per-node=1 --cpus-per-task=1 --time=00:10:00 "$0" table) || exit 1
    echo "job $array fits $((last + 1)) classifiers into $folder; job ${table%%;*} then writes $folder/table.tsv"
}

# Fits one classifier of the array and evaluates it on the test data.
member() {
    local train=$1 test=$2 number=$SLURM_ARRAY_TASK_ID name
    shift 2
    name=$(files "$number")
    rm -f "$name.json"
    launch fit --marginals "$train" --labels "$train" -k "${ks[number % ${#ks[@]}]}" \
        --metric "${metrics[number / ${#ks[@]}]}" --out "$name.h5" --resume "$@" || finish $?
    launch evaluate "$name.h5" --marginals "$test" --labels "$test" --json "$name.json" --force
    finish $?
}

# Prints the mean of a metric from the output of `macrok evaluate --json`.
mean() {
    awk -v key="\"$2\":" '$1 == key { here = 1 } here && $1 == "\"mean\":" { print $2 + 0; exit }' "$1"
}

# Writes a line for each fit, without numbers if it failed.
table() {
    local number name column row missing=0 tab=$'\t'
    local last=$((${#metrics[@]} * ${#ks[@]} - 1))
    {
        row="fitted for${tab}k"
        for column in "${columns[@]}"; do row+=$tab$column; done
        echo "$row"
        for ((number = 0; number <= last; number++)); do
            name=$(files "$number")
            row=${metrics[number / ${#ks[@]}]}$tab${ks[number % ${#ks[@]}]}
            for column in "${columns[@]}"; do
                if [ -e "$name.json" ]; then row+=$tab$(mean "$name.json" "$column"); else row+=$tab-; fi
            done
            [ -e "$name.json" ] || missing=$((missing + 1))
            echo "$row"
        done
    } >"$folder/table.tsv"
    column -t -s "$tab" "$folder/table.tsv" 2>/dev/null || cat "$folder/table.tsv"
    if [ "$missing" -gt 0 ]; then
        echo "$missing of $((last + 1)) fits have no result; their logs are in $folder" >&2
        exit 1
    fi
}

case "${1:-}" in
member | table) "$@" ;;
*)
    if [ $# -lt 2 ]; then
        echo "usage: bash slurm/sweep.sbatch TRAIN.h5 TEST.h5 [OPTION OF macrok fit]..." >&2
        exit 2
    fi
    submit "$@"
    ;;
esac
