"""Picks the bundled sample from a generated set: a right variant of every kernel, a wrong one of every second.

    python sample.py SET SAMPLE

Different kinds of transformation first, small files before large ones.
"""

import json
import shutil
import sys
from pathlib import Path


def pick(entries, seen, folder):
    """The entry whose kinds were seen least; ties go to the smaller file."""
    def cost(entry):
        kinds = entry["kind"].split("+")
        return (sum(seen.get(k, 0) for k in kinds) / len(kinds), (folder / entry["candidate"]).stat().st_size)

    best = min(entries, key=cost)
    for kind in best["kind"].split("+"):
        seen[kind] = seen.get(kind, 0) + 1
    return best


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    entries = json.loads((folder / "manifest.json").read_text())
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    kernels = list(dict.fromkeys(e["kernel"] for e in entries))
    sample, seen = [], {}
    for number, kernel in enumerate(kernels):
        for expect in ["equivalent"] + ["different"] * (number % 2 == 0):
            fitting = [e for e in entries if e["kernel"] == kernel and e["expect"] == expect]
            entry = dict(pick(fitting, seen, folder))
            name = f"{kernel}-{'right' if expect == 'equivalent' else 'wrong'}.c"
            shutil.copy(folder / entry["candidate"], out / name)
            entry["original"], entry["candidate"] = f"../src/{kernel}.c", name
            sample.append(entry)
    (out / "manifest.json").write_text(json.dumps(sample, indent=1) + "\n")


if __name__ == "__main__":
    main()
