def apply(program, rng):
    return None
