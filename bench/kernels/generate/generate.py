"""Makes variants of the kernels: right ones and wrong ones, each shown to be so by running it.

    python generate.py --out DIRECTORY [--seed 1] [--kernels gemm,lu] [--right 44] [--wrong 22]

Writes DIRECTORY/KERNEL/KERNEL.c, right-NN.c, wrong-NN.c and DIRECTORY/manifest.json. The same seed gives the same
files.
"""

import argparse
import json
import multiprocessing
import os
import pickle
import random
import re
import resource
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import islpy as isl

import mutations
import places
import poly
import program as programs
import rewrites
import schedules
import traces
import validate

# Steps of isl for one schedule; a few random ones would take minutes.
ISL_BUDGET = 1_000_000
ISL_SECONDS = 5


@dataclass
class Variant:
    kind: str  # what was done, e.g. "tiling", "off-by-one"
    note: str
    program: programs.Program
    right: bool
    place: dict = field(default_factory=dict)
    text: str = ""


def budgeted(maker, scop, seed):
    """What the maker gives, or None if isl takes too long. In a process of its own: not every loop of isl counts
    its steps, and then only a limit of processor time helps."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (ISL_SECONDS, ISL_SECONDS))
        isl.DEFAULT_CONTEXT.set_max_operations(ISL_BUDGET)
        status = 1
        try:
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(maker(scop, random.Random(seed)), pipe)
            status = 0
        except isl.Error:
            pass  # out of steps
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(data) if status == 0 else None


def from_table(scop, rng):
    """A variant by a random table of times."""
    made = schedules.random_schedule(scop, rng)
    if made is None:
        return None
    kind, table, note = made
    schedule = scop.to_map(table)
    if not scop.injective(schedule):
        return None
    right = scop.legal(schedule)
    place = {}
    if not right:
        place = scop.broken(schedule)
        kind = "illegal-" + kind
    program = schedules.to_program(scop, poly.code(scop, schedule), rng)
    return Variant(kind, note, program, right, place)


def from_scheduler(scop, rng):
    kind, tree, note = schedules.scheduler(scop, rng)
    return Variant(kind, note, schedules.to_program(scop, poly.code_of_tree(scop, tree), rng), True)


def from_parallel(scop, rng):
    """The kernel with an OpenMP pragma at a loop without dependences between iterations."""
    program = programs.original(scop.kernel)
    sites = places.sites(program)
    if len(sites) != len(scop.loops):
        return None
    # Counters that are declared outside would be shared by the threads.
    shared = [any(not inner.declared for inner in map(programs.as_loop, programs.walk(s[3].stmt)) if inner) for s in sites]
    found = [n for n in range(len(sites)) if not shared[n] and scop.parallel(n)]
    if not found:
        return None
    holder, at, loop, _, _ = sites[rng.choice(found)]
    holder.insert(at, programs.c_ast.Pragma("omp parallel for"))
    places.tidy(program)
    return Variant("parallel", f"loop of {loop.var} parallel", program, True)


def from_rewrites(base, rng):
    """One to three source rewrites of a right program."""
    program, notes, kinds = base.clone(), [], []
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        made = rewrites.apply(program, rng)
        if made is None:
            continue
        kind, note = made
        kinds.append(kind)
        notes.append(note)
    return Variant("+".join(kinds), "; ".join(notes), program, True) if kinds else None


def from_mutation(base, rng):
    program = base.clone()
    made = mutations.apply(program, rng)
    if made is None:
        return None
    kind, note, place = made
    variant = Variant(kind, note, program, False, place)
    places.sites(base)
    places.tidy(base)
    before, after = finished(base, 0).split("\n"), finished(program, 0).split("\n")
    same = next((i for i, (x, y) in enumerate(zip(before, after)) if x != y), min(len(before), len(after)))
    variant.place["changed_line"] = same + 1
    return variant


def finished(program, style):
    """The text, with the helpers that it uses: as macros, as functions, or written out."""
    program = program.clone()
    body = program.render()
    needs_min = re.search(r"\b(min|max)\(", body)
    needs_floord = re.search(r"\b(floord|ceild)\(", body)
    if style == 2 and needs_min and not needs_floord:
        program.body = [rewrites.expand_min_max(node) for node in program.body]
        needs_min = None
    prelude = []
    if needs_min:
        prelude.append(programs.MIN_MAX_INLINE if style == 1 else programs.MIN_MAX)
    if needs_floord:
        prelude.append(programs.FLOORD_INLINE if style == 1 else programs.FLOORD)
    program.prelude = prelude + program.prelude
    return program.render()


def variants_of(kernel, seed, want_right, want_wrong, scratch):
    rng = random.Random(f"{seed}/{kernel.name}")
    scop = poly.Scop(kernel, kernel.body)
    base = programs.original(kernel)
    seen, right, wrong = set(), [], []
    for turn in range(8):
        batch, bases = [], [base]
        for _ in range(30):
            makers = [(from_table, scop)] * 3 + [(from_scheduler, scop)] + [(from_parallel, scop)] * (turn == 0) + [(from_rewrites, None)] * 4 + [(from_mutation, None)] * 2
            maker, source = rng.choice(makers)
            if source is None:
                source = rng.choice([base, rng.choice(bases), rng.choice(bases)])
                made = maker(source, rng)
            else:
                made = budgeted(maker, source, rng.random())
                if made and made.right and made.kind != "parallel" and "do {" not in "".join(made.program.prelude):
                    bases.append(made.program)
            if made is None:
                continue
            style = rng.randrange(3)
            made.text = finished(made.program, style)
            if made.text in seen or len(made.text) > 20_000:
                continue
            seen.add(made.text)
            batch.append((made, style))
        functions = ["min", "max", "floord", "ceild"]
        outcomes = validate.run(kernel, [
            (v.text, v.program.names + (functions if s == 1 else []), v.program.macros + functions) for v, s in batch], scratch)
        for (variant, _), outcome in zip(batch, outcomes):
            if outcome.hangs or outcome.nan:
                continue
            if variant.right != outcome.same:
                if variant.right:
                    print(f"{kernel.name}: {variant.kind} ({variant.note}) should be right: {outcome}", file=sys.stderr)
                    (scratch / f"{kernel.name}-bad-{len(seen)}.c").write_text(variant.text)
                continue
            if variant.right:
                right.append(variant)
            else:
                variant.place["cells"] = [{"array": a, "first": c, "count": n} for a, (c, n) in outcome.cells.items()]
                variant.place["outside"] = outcome.memory
                if "lines" not in variant.place:
                    variant.place["broken"] = traces.first_broken(kernel, kernel.text, variant.text, scratch)
                wrong.append(variant)
        if len(right) >= want_right and len(wrong) >= want_wrong:
            break
    return right[:want_right], wrong[:want_wrong]


def write(kernel, variants, out):
    folder = out / kernel.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{kernel.name}.c").write_text(kernel.text)
    entries, counts = [], {}
    for v in variants:
        stem = "right" if v.right else "wrong"
        counts[stem] = counts.get(stem, 0) + 1
        name = f"{stem}-{counts[stem]:02}.c"
        (folder / name).write_text(v.text)
        entry = {"kernel": kernel.name, "original": f"{kernel.name}/{kernel.name}.c", "candidate": f"{kernel.name}/{name}",
                 "params": kernel.values, "expect": "equivalent" if v.right else "different", "kind": v.kind,
                 "note": v.note}
        if v.place:
            entry["place"] = v.place
        entries.append(entry)
    return entries


def one_kernel(job):
    source, options = job
    kernel = programs.load(source)
    with tempfile.TemporaryDirectory() as scratch:
        right, wrong = variants_of(kernel, options.seed, options.right, options.wrong, Path(scratch))
    return kernel.name, write(kernel, right + wrong, options.out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--kernels", help="names, separated by commas; all by default")
    parser.add_argument("--right", type=int, default=44)
    parser.add_argument("--wrong", type=int, default=22)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    sources = sorted((Path(__file__).parent.parent / "src").glob("*.c"))
    if options.kernels:
        sources = [s for s in sources if s.stem in options.kernels.split(",")]
    options.out.mkdir(parents=True, exist_ok=True)
    start, entries = time.time(), []
    jobs = [(source, options) for source in sources]
    with multiprocessing.Pool(options.jobs) as pool:
        for name, made in pool.imap(one_kernel, jobs):
            right = sum(e["expect"] == "equivalent" for e in made)
            print(f"{name:16} {right:3} right {len(made) - right:3} wrong  {time.time() - start:6.1f} s", flush=True)
            entries += made
            (options.out / "manifest.json").write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    main()
