//! True proofs are accepted, forged ones are not; and whatever is accepted is about clauses without a model.

use batsat::{Callbacks, ClauseKind, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use clausal::{Invalid, Literal, Proof, check};

/// A step as these tests write it: literals as in DIMACS.
#[derive(Clone, PartialEq, Debug)]
enum Step {
    Given(Vec<i32>),
    Learnt(Vec<i32>),
    Deleted(Vec<i32>),
}

fn literal(number: i32) -> Literal {
    Literal::new(number.unsigned_abs() - 1, number > 0)
}

fn proof(steps: &[Step]) -> Proof {
    let mut proof = Proof::default();
    for step in steps {
        let (Step::Given(clause) | Step::Learnt(clause) | Step::Deleted(clause)) = step;
        let clause = clause.iter().map(|number| literal(*number));
        match step {
            Step::Given(_) => proof.given(clause),
            Step::Learnt(_) => proof.learnt(clause),
            Step::Deleted(_) => proof.deleted(clause),
        }
    }
    proof
}

fn given(clauses: &[&[i32]]) -> Vec<Step> {
    clauses.iter().map(|clause| Step::Given(clause.to_vec())).collect()
}

/// All eight clauses of three variables: nothing is left, and propagation alone does not see it.
const EVERYTHING: [&[i32]; 8] =
    [&[1, 2, 3], &[1, 2, -3], &[1, -2, 3], &[1, -2, -3], &[-1, 2, 3], &[-1, 2, -3], &[-1, -2, 3], &[-1, -2, -3]];

#[test]
fn a_proof_is_accepted_and_each_part_of_it_is_needed() {
    let mut steps = given(&EVERYTHING);
    assert_eq!(check(&proof(&steps)), Err(Invalid::NotRefuted));
    for clause in [vec![1, 2], vec![1], vec![2]] {
        steps.push(Step::Learnt(clause));
    }
    let counts = check(&proof(&steps)).expect("a proof");
    assert_eq!((counts.given, counts.learnt), (8, 3));
    // Without a given clause there is a model, and no proof.
    for left_out in 0..8 {
        let mut steps = steps.clone();
        steps.remove(left_out);
        assert!(check(&proof(&steps)).is_err(), "without {left_out}");
    }
    // Without the first step the next does not follow.
    let mut hasty = steps.clone();
    hasty.remove(8);
    assert_eq!(check(&proof(&hasty)), Err(Invalid::NotImplied(8)));
}

#[test]
fn claims_are_not_believed() {
    let satisfiable = given(&[&[1, 2], &[-1, 2], &[3, -2]]);
    for forged in [vec![], vec![-2], vec![1], vec![-3, -2], vec![7], vec![-7, 8]] {
        let mut steps = satisfiable.clone();
        steps.push(Step::Learnt(forged.clone()));
        assert_eq!(check(&proof(&steps)), Err(Invalid::NotImplied(3)), "{forged:?}");
    }
    // What follows is not yet a contradiction.
    let mut steps = satisfiable;
    steps.extend([Step::Learnt(vec![2]), Step::Learnt(vec![3]), Step::Learnt(vec![1, -1])]);
    assert_eq!(check(&proof(&steps)), Err(Invalid::NotRefuted));
    assert_eq!(check(&Proof::default()), Err(Invalid::NotRefuted));
}

#[test]
fn a_clause_may_follow_from_itself_only_before_it_is_deleted() {
    let start = given(&[&[1, 2, 3], &[4, 5]]);
    let mut steps = start.clone();
    steps.extend([Step::Deleted(vec![3, 1, 2]), Step::Learnt(vec![1, 2, 3])]);
    assert_eq!(check(&proof(&steps)), Err(Invalid::NotImplied(3)));
    // Twice there, once deleted.
    let mut steps = start;
    steps.extend([Step::Given(vec![3, 2, 1]), Step::Deleted(vec![2, 1, 3]), Step::Learnt(vec![1, 2, 3])]);
    assert_eq!(check(&proof(&steps)), Err(Invalid::NotRefuted));
}

#[test]
fn deletions_of_what_is_not_there_are_ignored() {
    let mut steps = given(&[&[1, 2], &[1, -2], &[-1, 2], &[-1, -2]]);
    steps.extend([Step::Deleted(vec![1, 2, 9]), Step::Deleted(vec![]), Step::Learnt(vec![1])]);
    assert!(check(&proof(&steps)).is_ok());
}

#[test]
fn repeated_literals_and_tautologies() {
    assert!(check(&proof(&given(&[&[1, 1], &[-1, -1, -1]]))).is_ok());
    assert!(check(&proof(&given(&[&[1, -1], &[2, -2]]))).is_err());
    assert!(check(&proof(&given(&[&[]]))).is_ok());
}

/// Notes what the SAT solver learns.
#[derive(Default)]
struct Notes(Vec<Step>);

fn numbers(clause: &[Lit]) -> Vec<i32> {
    let number = |lit: &Lit| (lit.var().idx() as i32 + 1) * if lit.sign() { 1 } else { -1 };
    clause.iter().map(number).collect()
}

impl Callbacks for Notes {
    fn on_new_clause(&mut self, clause: &[Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.0.push(Step::Learnt(numbers(clause)));
        }
    }

    fn on_delete_clause(&mut self, clause: &[Lit]) {
        self.0.push(Step::Deleted(numbers(clause)));
    }
}

/// The SAT solver's proof, or nothing if there is a model.
fn refutation(variables: u32, clauses: &[Vec<i32>]) -> Option<Vec<Step>> {
    let mut solver = Solver::new(SolverOpts::default(), Notes::default());
    for _ in 0..variables {
        solver.new_var_default();
    }
    for clause in clauses {
        solver.cb_mut().0.push(Step::Given(clause.clone()));
        let mut lits: Vec<Lit> =
            clause.iter().map(|n| Lit::new(Var::unsafe_from_idx(n.unsigned_abs() - 1), *n > 0)).collect();
        solver.add_clause_reuse(&mut lits);
    }
    (solver.solve_limited(&[]) == lbool::FALSE).then(|| std::mem::take(&mut solver.cb_mut().0))
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn random_clauses(random: &mut Random, variables: usize, clauses: usize) -> Vec<Vec<i32>> {
    let mut literal = || (random.below(variables) as i32 + 1) * if random.below(2) == 0 { 1 } else { -1 };
    (0..clauses).map(|_| vec![literal(), literal(), literal()]).collect()
}

fn has_model(variables: usize, steps: &[Step]) -> bool {
    let true_in = |state: u32, n: i32| (state >> (n.unsigned_abs() - 1) & 1 == 1) == (n > 0);
    (0..1u32 << variables).any(|state| {
        steps.iter().all(|step| match step {
            Step::Given(clause) => clause.iter().any(|n| true_in(state, *n)),
            _ => true,
        })
    })
}

#[test]
fn proofs_of_a_solver_are_accepted() {
    let mut random = Random(1);
    let (mut proofs, mut learnt) = (0, 0);
    for _ in 0..60 {
        let clauses = random_clauses(&mut random, 70, 330);
        let Some(steps) = refutation(70, &clauses) else { continue };
        let counts = check(&proof(&steps)).expect("the solver's own proof");
        (proofs, learnt) = (proofs + 1, learnt + counts.learnt);
    }
    assert!(proofs > 40 && learnt > 1000, "{proofs} proofs, {learnt} clauses");
}

/// Whatever is done to a proof: it is refused, or what is left of the given clauses still has no model.
#[test]
fn no_mutated_proof_proves_too_much() {
    let mut random = Random(2);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..150 {
        let clauses = random_clauses(&mut random, 10, 48);
        let Some(steps) = refutation(10, &clauses) else { continue };
        for _ in 0..40 {
            let mut mutated = steps.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(mutated.len());
                match random.below(4) {
                    0 => drop(mutated.remove(at)),
                    1 => {
                        let (Step::Given(clause) | Step::Learnt(clause) | Step::Deleted(clause)) = &mut mutated[at];
                        if !clause.is_empty() {
                            let which = random.below(clause.len());
                            clause[which] = -clause[which];
                        }
                    }
                    2 => {
                        let (Step::Given(clause) | Step::Learnt(clause) | Step::Deleted(clause)) = &mut mutated[at];
                        clause.pop();
                        // Fewer literals of what was given would be another question.
                        if let Step::Given(clause) = &mutated[at] {
                            mutated[at] = Step::Learnt(clause.clone());
                        }
                    }
                    _ => {
                        let other = random.below(mutated.len());
                        mutated.swap(at, other);
                    }
                }
                if mutated.is_empty() {
                    break;
                }
            }
            match check(&proof(&mutated)) {
                Err(_) => refused += 1,
                Ok(_) => {
                    accepted += 1;
                    assert!(!has_model(10, &mutated), "{mutated:?}");
                }
            }
        }
    }
    assert!(refused > 500 && accepted > 500, "{refused} refused, {accepted} accepted");
}
