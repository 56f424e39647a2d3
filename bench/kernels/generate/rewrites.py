"""Source rewrites that keep the meaning: the table of all, and one at random."""

import copy

from pycparser import c_ast

import data_rewrites
import loop_rewrites
from places import tidy
from program import replace

REWRITES = {
    "unroll": loop_rewrites.unroll,
    "unroll-switch": loop_rewrites.unroll_switch,
    "peel": loop_rewrites.peel,
    "split": loop_rewrites.split,
    "strip-mine": loop_rewrites.strip_mine,
    "pluto-tile": loop_rewrites.pluto_tile,
    "index-shift": loop_rewrites.index_shift,
    "count-down": loop_rewrites.count_down,
    "while": loop_rewrites.while_loop,
    "collapse": loop_rewrites.collapse,
    "scalar-replacement": data_rewrites.scalar_replacement,
    "hoist": data_rewrites.hoist,
    "row-pointer": data_rewrites.row_pointer,
    "local-copy": data_rewrites.local_copy,
    "spelling": data_rewrites.spell_assignment,
    "if-for-ternary": data_rewrites.if_for_ternary,
    "helper": data_rewrites.helper,
    "guards": loop_rewrites.guards,
    "pragma": loop_rewrites.pragma,
    "walking-pointer": data_rewrites.walking_pointer,
    "choice": data_rewrites.choice,
}


def apply(program, rng):
    """One random rewrite, tried until one finds a place; returns (name, description)."""
    names = list(REWRITES)
    rng.shuffle(names)
    for name in names[:6]:
        note = REWRITES[name](program, rng)
        if note:
            tidy(program)
            return name, note
    return None


def expand_min_max(node):
    """min and max as nested choices."""

    def test(n):
        if isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID) and n.name.name in ("min", "max"):
            a, b = (expand_min_max(e) for e in n.args.exprs)
            rel = "<" if n.name.name == "min" else ">"
            return c_ast.TernaryOp(c_ast.BinaryOp(rel, a, b), copy.deepcopy(a), copy.deepcopy(b))
        return None

    return replace(node, test)
