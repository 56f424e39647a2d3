"""The polyhedral view of a kernel: statements with domain, accesses and schedule; dependences; legality.

A schedule is a table: for each statement the list of its time expressions, as texts over its iterators. All lists
of a table have one length. A schedule is legal when every dependence (two instances, one cell, at least one write)
goes forward in time.
"""

import copy
import re
from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from program import as_loop, children, identifiers, items_of, show, parse_expression, parse_statements, replace, substitute, walk


class NotAffine(Exception):
    """The kernel has a part that the polyhedral view does not cover."""


@dataclass
class Statement:
    name: str
    node: object
    iters: list
    constraints: list
    time: list
    reads: list  # (array, [subscript texts] or None for all of it)
    writes: list
    line: int

    def lines(self):
        """Its own line, and for a choice on data those of the assignments in it."""
        inside = {n.coord.line for n in walk(self.node) if isinstance(n, c_ast.Assignment)}
        return sorted(inside | {self.line})

    def instance(self):
        return f"{self.name}[{', '.join(self.iters)}]"


def _isl(node):
    """The text of an affine expression or condition in isl's notation."""
    text = show(node)
    return re.sub(r"(?<![<>=!])==", "=", text.replace("&&", " and ").replace("||", " or "))


class Scop:
    def __init__(self, kernel, body):
        self.kernel = kernel
        self.params = list(kernel.values)
        self.types = {p.name: p for p in kernel.parameters}
        self.statements = []
        self.loops = []  # in the order of the text: (place of its time, names of the statements inside)
        self.ranks = self._ranks()
        self._items(body, [], [], [])
        width = max(len(s.time) for s in self.statements)
        for s in self.statements:
            s.time += ["0"] * (width - len(s.time))
        prefix = f"[{', '.join(self.params)}] -> "
        self.prefix = prefix
        # Sizes at which every loop runs; the transformations are the same for all larger ones.
        self.context = isl.Set(prefix + "{ : " + " and ".join(
            f"{p} = {v}" if self.flat else f"{p} >= 3" for p, v in kernel.values.items()) + "}")
        sizes = {p: v for p, v in kernel.values.items()}
        same = [f"{p} = {p.upper()}" for p in sizes if p.upper() in sizes and p.upper() != p]
        if same:
            self.context = self.context.intersect(isl.Set(prefix + "{ : " + " and ".join(same) + "}"))
        self.fixed = isl.Set(prefix + "{ : " + " and ".join(f"{p} = {v}" for p, v in sizes.items()) + "}")
        self.domain = isl.UnionSet(prefix + "{" + "; ".join(
            f"{s.instance()} : {' and '.join(s.constraints) or '0 = 0'}" for s in self.statements) + "}")
        self.domain = self.domain.intersect_params(self.context)
        self.reads = self._accesses("reads")
        self.writes = self._accesses("writes")
        self.table = {s.name: list(s.time) for s in self.statements}
        self.schedule = self.to_map(self.table)
        self.dependences = self._dependences()

    def statement(self, name):
        return next(s for s in self.statements if s.name == name)

    def _ranks(self):
        ranks = {p.name: len(p.dims or []) for p in self.kernel.parameters}
        for decl in self.kernel.decls:
            rank, t = 0, decl.type
            while isinstance(t, c_ast.ArrayDecl):
                rank, t = rank + 1, t.type
            ranks[decl.name] = rank
        # Flat arrays index by products of sizes: affine only for fixed sizes.
        self.flat = any(p.dims == ["*"] or (p.dims and "*" in p.dims[0]) for p in self.kernel.parameters)
        return ranks

    def _items(self, items, iters, constraints, time):
        for place, node in enumerate(items):
            here = time + [str(place * 10)]
            if isinstance(node, c_ast.Compound):
                self._items(items_of(node), iters, constraints, here)
            elif isinstance(node, c_ast.For):
                loop = as_loop(node)
                if loop is None or loop.var in iters or loop.step not in (1, -1):
                    raise NotAffine(show(node))
                low, high = (loop.lower, loop.upper) if loop.step > 0 else (loop.upper, loop.lower)
                bounds = [f"{_isl(low)} <= {loop.var} <= {_isl(high)}"]
                when = loop.var if loop.step > 0 else f"-{loop.var}"
                number, before = len(self.loops), len(self.statements)
                self.loops.append(None)
                self._items(items_of(node.stmt), iters + [loop.var], constraints + bounds, here + [when])
                self.loops[number] = (len(here), [s.name for s in self.statements[before:]])
            elif isinstance(node, c_ast.If) and self._affine(node.cond, iters):
                cond = f"({_isl(node.cond)})"
                self._items(items_of(node.iftrue), iters, constraints + [cond], here + ["0", "0"])
                if node.iffalse:
                    other = [f"not {cond}"]
                    self._items(items_of(node.iffalse), iters, constraints + other, here + ["0", "1"])
            elif isinstance(node, (c_ast.Assignment, c_ast.If)):
                self._statement(node, iters, constraints, here)
            else:
                raise NotAffine(show(node))

    def _affine(self, node, iters):
        return identifiers(node) <= set(iters) | set(self.params) and not any(
            isinstance(n, (c_ast.ArrayRef, c_ast.FuncCall, c_ast.StructRef)) for n in walk(node))

    def _statement(self, node, iters, constraints, time):
        reads, writes = [], []
        self._collect(node, iters, reads, writes)
        name = f"S{len(self.statements)}"
        line = node.coord.line
        self.statements.append(Statement(name, node, list(iters), list(constraints), time, reads, writes, line))

    def _collect(self, node, iters, reads, writes):
        if isinstance(node, c_ast.Assignment):
            writes.append(self._cell(node.lvalue, iters, reads))
            if node.op != "=":
                reads.append(writes[-1])
            self._collect(node.rvalue, iters, reads, writes)
        elif isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)):
            reads.append(self._cell(node, iters, reads))
        elif isinstance(node, c_ast.ID):
            if node.name in self.ranks and node.name not in self.params and node.name not in iters:
                reads.append((node.name, []))
        elif isinstance(node, c_ast.FuncCall):
            if node.args:
                self._collect(node.args, iters, reads, writes)
        else:
            for child in children(node):
                self._collect(child, iters, reads, writes)

    def _cell(self, node, iters, reads):
        if isinstance(node, c_ast.StructRef):
            return (show(node).replace(".", "_"), [])
        if isinstance(node, c_ast.ID):
            return (node.name, [])
        subscripts = []
        while isinstance(node, c_ast.ArrayRef):
            subscript = node.subscript
            if self.flat:
                subscript = substitute(subscript, {p: parse_expression(str(v)) for p, v in self.kernel.values.items()})
            if not self._affine(subscript, iters):
                raise NotAffine(show(node))
            subscripts.insert(0, _isl(subscript))
            node = node.name
        return (node.name, subscripts)

    def _accesses(self, which):
        out = isl.UnionMap(self.prefix + "{}")
        for s in self.statements:
            for array, subscripts in getattr(s, which):
                text = f"{{ {s.instance()} -> {array}[{', '.join(subscripts)}] }}"
                out = out.union(isl.UnionMap(self.prefix + text))
        return out.intersect_domain(self.domain)

    def to_map(self, table):
        texts = [f"{s.instance()} -> [{', '.join(table[s.name])}]" for s in self.statements]
        return isl.UnionMap(self.prefix + "{" + "; ".join(texts) + "}").intersect_domain(self.domain)

    def _dependences(self):
        def pairs(first, second):
            return first.apply_range(second.reverse())

        conflicts = pairs(self.writes, self.reads).union(pairs(self.reads, self.writes))
        conflicts = conflicts.union(pairs(self.writes, self.writes))
        before = self.schedule.lex_lt_union_map(self.schedule)
        return conflicts.intersect(before).coalesce()

    def legal(self, schedule):
        """Every dependence goes forward, and no two instances share a time."""
        return self.violated(schedule).is_empty()

    def violated(self, schedule):
        return self.dependences.subtract(schedule.lex_lt_union_map(schedule))

    def parallel(self, number):
        """Does no dependence lead from one iteration of this loop to another?"""
        place, names = self.loops[number]
        inside = [s for s in self.statements if s.name in names]

        def same(width):
            texts = [f"{s.instance()} -> [{', '.join(self.table[s.name][:width])}]" for s in inside]
            times = isl.UnionMap(self.prefix + "{" + "; ".join(texts) + "}").intersect_domain(self.domain)
            return times.apply_range(times.reverse())

        return self.dependences.intersect(same(place)).subtract(same(place + 1)).is_empty()

    def injective(self, schedule):
        return schedule.is_injective()

    def fixed_flow(self, schedule):
        """For the given sizes: which write each read gets."""
        info = isl.UnionAccessInfo.from_sink(self.reads.intersect_params(self.fixed))
        info = info.set_must_source(self.writes.intersect_params(self.fixed))
        info = info.set_schedule_map(schedule.intersect_params(self.fixed))
        flow = info.compute_flow()
        return flow.get_full_must_dependence(), flow.get_must_no_source()

    def broken(self, schedule):
        """What an illegal schedule breaks, at the given sizes, each in the original's order.

        `first`: the first instance that reads another write (absent if every read gets the write it should, and only
        the last write of a cell is another). `first_end`: the first instance at an end of a dependence that goes
        backward. `lines`: lines of all statements at such ends.
        """
        right, right_none = self._original_flow()
        wrong, wrong_none = self.fixed_flow(schedule)
        lost, lost_none = right.subtract(wrong), right_none.subtract(wrong_none)
        readers = lost.range().unwrap().domain() if not lost.is_empty() else lost.range()
        if not lost_none.is_empty():
            readers = readers.union(lost_none.domain())
        backward = self.violated(schedule).intersect_params(self.fixed)
        ends = backward.domain().union(backward.range())
        names = []
        ends.foreach_set(lambda s: names.append(s.get_tuple_name()))
        out = {"lines": sorted({line for n in names for line in self.statement(n).lines()})}
        for key, instances in (("first", readers), ("first_end", ends)):
            if not instances.is_empty():
                out[key] = self._first(instances)
        return out

    def _first(self, instances):
        schedule = self.schedule.intersect_params(self.fixed)
        times = instances.apply(schedule).lexmin()
        return self._describe(instances.intersect(schedule.intersect_range(times).domain()))

    def _original_flow(self):
        if not hasattr(self, "_flow"):
            self._flow = self.fixed_flow(self.schedule)
        return self._flow

    def _describe(self, instances):
        points = []
        instances.foreach_set(lambda s: points.append((s.get_tuple_name(), s.sample_point())))
        name, point = points[0]
        statement = self.statement(name)
        values = {it: point.get_coordinate_val(isl.dim_type.set, n).to_python() for n, it in enumerate(statement.iters)}
        out = {"line": statement.line, "iterators": values}
        if len(statement.lines()) > 1:
            # A choice on data is one statement here, but several lines.
            out["until"] = statement.lines()[-1]
        return out


def original_decls(kernel):
    """Local variables of the kernel without the loop counters, which isl's code declares itself."""
    counters = {loop.var for node in kernel.body for loop in map(as_loop, walk(node)) if loop}
    return [copy.deepcopy(d) for d in kernel.decls if d.name not in counters]


def expand(scop, text, as_macros=False):
    """Statements of isl's C text, with the calls S0(...) replaced by the kernel's statements."""
    text = re.sub(r"^#define.*$", "", text, flags=re.M)
    nodes = parse_statements(text)
    names = {s.name: s for s in scop.statements}

    def test(node):
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID) and node.name.name in names:
            if as_macros:
                return None
            statement = names[node.name.name]
            args = node.args.exprs if node.args else []
            return substitute(statement.node, dict(zip(statement.iters, args)))
        return None

    return [replace(n, test) for n in nodes]


def statement_macros(scop):
    """`#define S0(i, j) ...` for each statement, the way CLooG's users write them."""
    out = []
    for s in scop.statements:
        body = substitute(s.node, {})
        text = " ".join(show(body).split())
        for it in s.iters:
            text = re.sub(rf"(?<![\w.]){it}\b", f"({it})", text)
        if isinstance(s.node, c_ast.If):
            text = "do { " + text + " } while (0)"
        out.append(f"#define {s.name}({', '.join(s.iters)}) {text}")
    return out


def code(scop, schedule, options=()):
    """isl's C for a schedule map."""
    build = isl.AstBuild.from_context(scop.context)
    return build.node_from_schedule_map(schedule).to_C_str()


def code_of_tree(scop, tree):
    build = isl.AstBuild.from_context(scop.context)
    return build.node_from_schedule(tree).to_C_str()
