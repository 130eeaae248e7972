"""The data sets: text files in ../shared/data, imported once into the folder of the benchmark."""

import gzip
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import timed

NAMES = ("bibtex", "delicious", "eurlex57k")


@dataclass(frozen=True)
class DataSet:
    name: str
    source: Path
    folder: Path
    macrok: Path

    @property
    def log(self) -> Path:
        return self.folder / "commands.log"

    def has(self, part: str) -> bool:
        return (self.source / f"{part}.txt.gz").exists()

    def text(self, part: str) -> Path:
        """The uncompressed text of a part, for programs that cannot read gzip."""
        path = self.folder / f"{part}.txt"
        if not path.exists():
            with gzip.open(self.source / f"{part}.txt.gz") as packed, path.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
        return path

    def h5(self, part: str) -> Path:
        """The features and labels of a part in macrok's format."""
        path = self.folder / f"{part}.h5"
        if not path.exists():
            timed.run([self.macrok, "import", self.source / f"{part}.txt.gz", "--out", path], self.log)
        return path


def find(name: str, data: Path, folder: Path, macrok: Path) -> DataSet | None:
    """The data set, or None if it is not available."""
    found = DataSet(name, data / name, folder / name, macrok)
    if not found.has("train"):
        return None
    found.folder.mkdir(parents=True, exist_ok=True)
    return found
