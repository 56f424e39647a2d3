"""Schedules of a kernel: loop transformations on the table of times, and what isl's own scheduler finds.

Times alternate between positions in a block (even places, integers) and loops (odd places). Nothing here decides
legality; `poly.Scop` does.
"""

import islpy as isl

from program import Program
import poly


def _position(table, name, place):
    return int(table[name][place])


def _is_loop(text):
    return any(c.isalpha() for c in text)


def _groups(table, place):
    """Statements that share all positions and loops before `place`."""
    groups = {}
    for name, time in table.items():
        groups.setdefault(tuple(time[:place]), []).append(name)
    return [g for g in groups.values()]


def _loops_of(table, name):
    return [p for p in range(1, len(table[name]), 2) if _is_loop(table[name][p])]


def _copy(table):
    return {name: list(time) for name, time in table.items()}


def _scope(table, rng, needs):
    """A group of statements under one loop at some depth, each with at least `needs` loops; or one statement."""
    places = [p for p in range(0, len(next(iter(table.values()))), 2)]
    candidates = []
    for place in places:
        for group in _groups(table, place + 1):
            if all(len(_loops_of(table, n)) >= needs for n in group):
                candidates.append(group)
    candidates += [[n] for n in table if len(_loops_of(table, n)) >= needs]
    return rng.choice(candidates) if candidates else None


def interchange(table, rng):
    group = _scope(table, rng, 2)
    if not group:
        return None
    table = _copy(table)
    common = min((_loops_of(table, n) for n in group), key=len)
    a, b = sorted(rng.sample(common, 2))
    for n in group:
        t = table[n]
        t[a], t[b] = t[b], t[a]
    return table, f"interchange of loops {a // 2} and {b // 2} of {' '.join(group)}"


def skew(table, rng, factor=None):
    group = _scope(table, rng, 2)
    if not group:
        return None
    table = _copy(table)
    common = min((_loops_of(table, n) for n in group), key=len)
    a, b = sorted(rng.sample(common, 2))
    factor = factor or rng.choice([1, 1, 2, -1])
    for n in group:
        table[n][b] = f"({table[n][b]}) + {factor} * ({table[n][a]})"
    return table, f"skew of loop {b // 2} by {factor} times loop {a // 2} of {' '.join(group)}"


def _one_loop(table, rng, change):
    """The time of one loop of a group changed; returns the table, the loop's number and the group's names."""
    group = _scope(table, rng, 1)
    if not group:
        return None
    table = _copy(table)
    place = rng.choice(min((_loops_of(table, n) for n in group), key=len))
    by = change(rng)
    for n in group:
        table[n][place] = by.format(table[n][place])
    return table, f"loop {place // 2} of {' '.join(group)}: {by.format('time')}"


def shift(table, rng):
    return _one_loop(table, rng, lambda rng: f"({{}}) + {rng.choice([1, 2, 3, -1, -2])}")


def reverse(table, rng):
    return _one_loop(table, rng, lambda rng: "-({})")


def _siblings(table, rng):
    """Two neighbouring positions in one block: (place, statements of the first, of the second)."""
    found = []
    width = len(next(iter(table.values())))
    for place in range(0, width, 2):
        for group in _groups(table, place):
            values = sorted({_position(table, n, place) for n in group})
            for v, w in zip(values, values[1:]):
                first = [n for n in group if _position(table, n, place) == v]
                second = [n for n in group if _position(table, n, place) == w]
                found.append((place, first, second))
    return rng.choice(found) if found else None


def fuse(table, rng):
    found = _siblings(table, rng)
    if not found:
        return None
    place, first, second = found
    if place + 2 >= len(table[first[0]]):
        return None
    if not all(_is_loop(table[n][place + 1]) for n in first + second):
        return None
    table = _copy(table)
    above = max(_position(table, n, place + 2) for n in first) + 10
    for n in second:
        table[n][place] = table[first[0]][place]
        table[n][place + 2] = str(_position(table, n, place + 2) + above)
    return table, f"fusion of the loops of {' '.join(first)} and {' '.join(second)}"


def distribute(table, rng):
    width = len(next(iter(table.values())))
    found = []
    for place in range(0, width - 2, 2):
        for group in _groups(table, place + 2):
            values = sorted({_position(table, n, place + 2) for n in group})
            found += [(place, group, v) for v in values[1:]]
    if not found:
        return None
    place, group, at = rng.choice(found)
    table = _copy(table)
    later = [n for n in group if _position(table, n, place + 2) >= at]
    for n in later:
        # Room before the next position of the block.
        table[n][place] = str(_position(table, n, place) + 1)
    return table, f"distribution of {' '.join(later)} into an own loop"


def reorder(table, rng):
    found = _siblings(table, rng)
    if not found:
        return None
    place, first, second = found
    table = _copy(table)
    v, w = table[first[0]][place], table[second[0]][place]
    for n in first:
        table[n][place] = w
    for n in second:
        table[n][place] = v
    return table, f"{' '.join(first)} after {' '.join(second)}"


def tile(table, rng, group=None, depth=None, sizes=None):
    group = group or _scope(table, rng, 1)
    if not group:
        return None
    common = min((_loops_of(table, n) for n in group), key=len)
    depth = depth or rng.randint(1, len(common))
    start = rng.randint(0, len(common) - depth)
    places = common[start:start + depth]
    if not places:
        return None
    sizes = sizes or [rng.choice([2, 3, 4, 4, 5, 7, 8]) for _ in places]
    table = _copy(table)
    at = places[0]
    for n, time in table.items():
        if n in group:
            new = [f"floor(({time[p]}) / {size})" for p, size in zip(places, sizes)]
        else:
            new = ["0"] * len(places)
        # Positions stay on even places: each new loop is followed by a position.
        table[n] = time[:at] + [x for t in new for x in (t, "0")] + time[at:]
    return table, f"tiles of {'x'.join(map(str, sizes))} over loops {places[0] // 2}.. of {' '.join(group)}"


def unroll_and_jam(table, rng):
    """One loop in strips of two with the strip innermost."""
    group = _scope(table, rng, 2)
    if not group:
        return None
    table = _copy(table)
    common = min((_loops_of(table, n) for n in group), key=len)
    place, factor = rng.choice(common[:-1]), rng.choice([2, 3])
    for n, time in table.items():
        if n in group:
            e = time[place]
            time[place] = f"floor(({e}) / {factor})"
            time += [f"({e}) - {factor} * floor(({e}) / {factor})", "0"]
        else:
            time += ["0", "0"]
    return table, f"jam of loop {place // 2} of {' '.join(group)} by {factor}"


def skew_and_tile(table, rng):
    """The classic for stencils in place: skew all inner loops by the outer, then tile the nest."""
    group = _scope(table, rng, 2)
    if not group:
        return None
    table = _copy(table)
    common = min((_loops_of(table, n) for n in group), key=len)
    factor = rng.choice([1, 1, 2, -1])
    for n in group:
        for p in common[1:]:
            table[n][p] = f"({table[n][p]}) + {factor} * ({table[n][common[0]]})"
        if len(common) > 2 and rng.random() < 0.6:
            table[n][common[2]] = f"({table[n][common[2]]}) + ({table[n][common[1]]})"
    tiled = tile(table, rng, group, len(common))
    return tiled and (tiled[0], f"skew by {factor}, {tiled[1]}")


def fuse_with_shift(table, rng):
    fused = fuse(table, rng)
    if not fused:
        return None
    shifted = shift(fused[0], rng)
    return shifted and (shifted[0], fused[1] + ", " + shifted[1])


OPERATIONS = {
    "interchange": interchange, "skew": skew, "reversal": reverse, "fusion": fuse, "distribution": distribute,
    "reorder": reorder, "tiling": tile, "unroll-and-jam": unroll_and_jam, "skewed-tiling": skew_and_tile,
    "shifted-fusion": fuse_with_shift, "shift": shift,
}


def random_schedule(scop, rng):
    """One to three operations; returns (class, table, description) or None."""
    count = rng.choice([1, 1, 1, 2, 2, 3])
    names = [rng.choice(list(OPERATIONS)) for _ in range(count)]
    table, notes = scop.table, []
    for name in names:
        result = OPERATIONS[name](table, rng)
        if result is None:
            return None
        table, note = result
        notes.append(note)
    return "+".join(names), table, "; ".join(notes)


def scheduler(scop, rng):
    """A schedule tree of isl's scheduler with random options, bands tiled; returns (class, text, description)."""
    ctx = scop.domain.get_ctx()
    fusion = rng.choice(["max", "min"])
    algorithm = rng.choice([0, 0, 1])
    coincidence = rng.choice([0, 1])
    ctx.set_schedule_serialize_sccs(1 if fusion == "min" else 0)
    ctx.set_schedule_algorithm(algorithm)
    ctx.set_schedule_outer_coincidence(coincidence)
    ctx.set_schedule_maximize_band_depth(rng.choice([0, 1]))
    constraints = isl.ScheduleConstraints.on_domain(scop.domain).set_validity(scop.dependences)
    constraints = constraints.set_proximity(scop.dependences).set_coincidence(scop.dependences)
    tree = constraints.compute_schedule()
    sizes = rng.choice([[2], [3], [4], [5], [8], [4, 8], [2, 3, 5], None])
    note = f"isl scheduler ({'feautrier' if algorithm else 'isl'}, {fusion} fusion, outer coincidence {coincidence})"
    if sizes:
        minimum = rng.choice([1, 2, 2])

        def visit(node):
            if node.get_type() == isl.schedule_node_type.band and node.band_get_permutable():
                members = node.band_n_member()
                if members >= minimum:
                    values = isl.MultiVal.zero(node.band_get_space())
                    for i in range(members):
                        values = values.set_val(i, isl.Val(rng.choice(sizes)))
                    return node.band_tile(values)
            return node

        tree = tree.map_schedule_node_bottom_up(visit)
        note += f", bands tiled by {'/'.join(map(str, sizes))}"
    return ("isl-tiled" if sizes else "isl-schedule"), tree, note


def to_program(scop, text, rng):
    """The kernel with isl's C as its body, statements in place or as macros."""
    kernel = scop.kernel
    program = Program(kernel, [d for d in poly.original_decls(kernel)], [])
    macros = rng.random() < 0.3
    program.body = poly.expand(scop, text, macros)
    if macros:
        program.prelude += poly.statement_macros(scop)
        program.macros += [s.name for s in scop.statements]
    return program
