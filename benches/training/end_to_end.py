"""From text to a classifier with macrok alone: import, train, marginals, fit on dev rows, evaluate on test rows."""

from pathlib import Path

from harness.document import table

from . import ours
from .sets import DataSet

TITLE = "From features to a macro-at-k classifier"

K = 5
METRICS = ("macro-f1", "macro-precision", "macro-recall", "instance-precision", "coverage")


def evaluate(data: DataSet, classifier: Path, test: Path) -> list[str]:
    _, told = ours.facts(data, ["evaluate", classifier, "--marginals", test, "--labels", test])
    return [f"{told['metrics'][metric]['mean']:.4f}" for metric in METRICS]


def report(data: DataSet, threads: int, log) -> str:
    """A table of classifiers and the commands that created them."""
    if not data.has("dev"):
        return ""
    # Only the commands of this part.
    data.log.unlink(missing_ok=True)
    ours.train(data, "plt", (), threads, "plt")
    (dev, _), (test, _) = (ours.marginals(data, part, threads, "plt") for part in ("dev", "test"))
    fit = ["fit", "--marginals", dev, "-k", K, "--metric", "macro-f1"]
    made = {
        "top-k": ["baseline", "top-k", "--labels", dev, "-k", K],
        "macro-F1, labels of dev": [*fit, "--labels", dev],
        "macro-F1, expected labels of dev": fit,
        "macro-F1, expected labels of test rows": [*fit[:2], test, *fit[3:]],
    }
    rows = []
    for number, (name, command) in enumerate(made.items()):
        classifier = data.folder / f"classifier-{number}.h5"
        ours.facts(data, [*command, "--out", classifier])
        rows.append([name, *evaluate(data, classifier, test)])
        log(f"  {' '.join(rows[-1])}")
    commands = data.log.read_text().replace(f"{data.macrok} ", "macrok ").replace(f"{data.folder}/", "")
    # Existing parts are not imported again, but readers who repeat this need the commands.
    imports = [f"macrok import {part}.txt.gz --out {part}.h5" for part in ("train", "dev", "test")]
    rest = [line.split(" --json ")[0] for line in commands.splitlines() if " import " not in line]
    shown = imports + rest
    return "\n\n".join(
        [
            f"### {data.name}, k = {K}, on test rows",
            table(["classifier", *METRICS], rows),
            "The last one is fitted on the marginals of the test rows themselves; labels of test rows are seen by no fit. Made by:",
            "```sh\n" + "\n".join(shown) + "\n```",
        ]
    )
