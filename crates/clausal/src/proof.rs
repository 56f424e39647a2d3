//! A proof as it is written down.

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Literal(u32);

impl Literal {
    /// The variable if `positive`, else its negation.
    pub fn new(variable: u32, positive: bool) -> Literal {
        Literal(variable << 1 | u32::from(!positive))
    }

    /// What contradicts it.
    pub fn negated(self) -> Literal {
        Literal(self.0 ^ 1)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is said of a clause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// It belongs to the question.
    Given,
    /// It follows from those before it.
    Learnt,
    /// It is not used any more.
    Deleted,
}

/// Clauses in the order in which a solver met them.
#[derive(Clone, Default, Debug)]
pub struct Proof {
    literals: Vec<Literal>,
    /// What is said, and where the clause ends.
    steps: Vec<(Kind, usize)>,
}

impl Proof {
    /// A clause of the question.
    pub fn given(&mut self, clause: impl IntoIterator<Item = Literal>) {
        self.push(Kind::Given, clause);
    }

    /// A clause that follows.
    pub fn learnt(&mut self, clause: impl IntoIterator<Item = Literal>) {
        self.push(Kind::Learnt, clause);
    }

    /// A clause that is not used any more.
    pub fn deleted(&mut self, clause: impl IntoIterator<Item = Literal>) {
        self.push(Kind::Deleted, clause);
    }

    fn push(&mut self, kind: Kind, clause: impl IntoIterator<Item = Literal>) {
        self.literals.extend(clause);
        self.steps.push((kind, self.literals.len()));
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Is nothing said?
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = (Kind, &[Literal])> {
        let mut start = 0;
        self.steps.iter().map(move |(kind, end)| {
            let clause = &self.literals[start..*end];
            start = *end;
            (*kind, clause)
        })
    }
}
