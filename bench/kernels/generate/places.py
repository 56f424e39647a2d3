"""Where a program can be changed: its loops, accesses and assignments.
"""

import copy

from pycparser import c_ast

from program import as_loop, block, identifiers, items_of, parse_expression, plus, replace, show, substitute, walk


def expr(text):
    return parse_expression(text)


def sites(program):
    """All (holder list, index, loop, node, enclosing loop variables) of counted loops; holders can be changed."""
    found = []

    def items(holder, around):
        for n, node in enumerate(holder):
            visit(node, holder, n, around)

    def visit(node, holder, n, around):
        if isinstance(node, c_ast.Compound):
            items(node.block_items or [], around)
        elif isinstance(node, c_ast.For):
            loop = as_loop(node)
            if loop:
                found.append((holder, n, loop, node, around))
            body = node.stmt
            if not isinstance(body, c_ast.Compound):
                body = c_ast.Compound([body])
                node.stmt = body
            items(body.block_items, around + ([loop.var] if loop else []))
        elif isinstance(node, c_ast.If):
            for slot in ("iftrue", "iffalse"):
                part = getattr(node, slot)
                if part is not None:
                    if not isinstance(part, c_ast.Compound):
                        part = c_ast.Compound([part])
                        setattr(node, slot, part)
                    items(part.block_items, around)

    items(program.body, [])
    return found


def tidy(program):
    """Removes braces around single statements, so that texts stay readable."""

    def test(node):
        if isinstance(node, c_ast.For) and isinstance(node.stmt, c_ast.Compound):
            new = copy.copy(node)
            new.stmt = block([replace(s, test) for s in node.stmt.block_items or []])
            return new
        return None

    program.body = [replace(n, test) for n in program.body]


def assigned_in(node):
    return {n.lvalue.name for n in walk(node) if isinstance(n, c_ast.Assignment) and isinstance(n.lvalue, c_ast.ID)} | {
        n.expr.name for n in walk(node) if isinstance(n, c_ast.UnaryOp) and n.op in ("p++", "++", "p--", "--")
        and isinstance(n.expr, c_ast.ID)}


def is_stable(loop, node):
    """Bounds do not change while the loop runs, and the body leaves the counter alone."""
    names = identifiers(loop.lower) | identifiers(loop.upper) | {loop.var}
    inside = (*walk(loop.lower), *walk(loop.upper))
    return not names & assigned_in(node.stmt) and not any(isinstance(n, c_ast.ArrayRef) for n in inside) and not any(
        isinstance(n, (c_ast.Break, c_ast.Continue)) for n in walk(node.stmt))


def pick_loop(program, rng, test=lambda *site: True, step=None):
    found = [s for s in sites(program) if is_stable(s[2], s[3]) and (step is None or s[2].step == step) and test(*s)]
    return rng.choice(found) if found else None


def on_loop(test=lambda *site: True, step=None):
    """Makes a rewrite of one loop a rewrite of the program: it is given a random loop that fits."""

    def decorate(rewrite):
        def wrapper(program, rng):
            site = pick_loop(program, rng, test, step)
            return rewrite(program, rng, *site[:4]) if site else None

        return wrapper

    return decorate


def body_of(node):
    return items_of(node.stmt)


def at_value(body, var, value):
    return [substitute(s, {var: value}) for s in copy.deepcopy(body)]


def copies_of(body, var, counter, count):
    """The body at counter, counter + 1, ...; in braces if it declares something."""
    out = []
    for k in range(count):
        once = at_value(body, var, plus(expr(counter), k))
        out += [c_ast.Compound(once)] if any(isinstance(s, c_ast.Decl) for s in once) else once
    return out


def is_innermost(node):
    return not any(isinstance(n, c_ast.For) for n in walk(node.stmt))


def accesses_of(node):
    """(text, node, is written) of array accesses, outermost ArrayRef only."""
    out = []

    def visit(n, written):
        if isinstance(n, c_ast.ArrayRef):
            out.append((show(n), n, written))
            m = n
            while isinstance(m, c_ast.ArrayRef):
                visit(m.subscript, False)
                m = m.name
        elif isinstance(n, c_ast.Assignment):
            visit(n.lvalue, True)
            visit(n.rvalue, False)
        else:
            for _, c in n.children():
                visit(c, False)

    visit(node, False)
    return out


def array_of(node):
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    return node.name if isinstance(node, c_ast.ID) else None


def assignments_of(program):
    """(holder, index) of every assignment statement."""
    found = []
    sites(program)

    def items(holder):
        for n, node in enumerate(holder):
            if isinstance(node, c_ast.Assignment):
                found.append((holder, n))
            elif isinstance(node, c_ast.Compound):
                items(node.block_items or [])
            elif isinstance(node, (c_ast.For, c_ast.While, c_ast.DoWhile)) and isinstance(node.stmt, c_ast.Compound):
                items(node.stmt.block_items or [])
            elif isinstance(node, c_ast.If):
                for part in (node.iftrue, node.iffalse):
                    if isinstance(part, c_ast.Compound):
                        items(part.block_items or [])

    items(program.body)
    return found


def element_type(program, array):
    for p in program.kernel.parameters:
        if p.name == array and p.dims:
            return p.type.replace("const ", "")
    for d in program.decls:
        t = d.type
        if d.name == array and isinstance(t, c_ast.ArrayDecl):
            while isinstance(t, c_ast.ArrayDecl):
                t = t.type
            return " ".join(t.type.names)
    return None


def rank_of(program, array):
    for p in program.kernel.parameters:
        if p.name == array:
            return len(p.dims) if p.dims else 0
    for d in program.decls:
        if d.name == array:
            rank, t = 0, d.type
            while isinstance(t, c_ast.ArrayDecl):
                rank, t = rank + 1, t.type
            return rank
    return 0


def dims_of(node):
    out = []
    while isinstance(node, c_ast.ArrayRef):
        out.insert(0, node.subscript)
        node = node.name
    return out


def pointers(program):
    return {d.name for d in program.decls if isinstance(d.type, c_ast.PtrDecl)}


def uses_macros(node):
    return any(isinstance(n, c_ast.FuncCall) and isinstance(n.name, c_ast.ID) and n.name.name[0] == "S" for n in walk(node))


def runs(loop):
    """A guard under which the loop has an iteration; None if that cannot fail."""
    return f"{show(loop.lower)} <= {show(loop.upper)}" if loop.step > 0 else f"{show(loop.lower)} >= {show(loop.upper)}"


def replace_text(node, text, new):
    return replace(node, lambda m: copy.deepcopy(new) if isinstance(m, (c_ast.ArrayRef, c_ast.StructRef)) and show(m) == text else None)
