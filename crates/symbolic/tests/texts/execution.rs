//! Runs programs from their entry to their returns and says what was found, as text.

use program::{Callee, Function, Next, Register, Side, read_functions};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use symbolic::{Access, Alias, Binding, Context, Event, Interval, Joins, Known, Shape, State};
use term::{Arena, Form, Op, Sort, TermId};

/// Both programs as text (the candidate may be left out), and how they are executed.
#[derive(Clone, Copy, Default)]
pub struct Fixture<'t> {
    pub programs: &'t str,
    /// What is known from the entry on.
    pub given: Option<&'t str>,
    /// Local objects of the original that escape: offset from the entry stack pointer, and size.
    pub locals: &'t [(i64, u64)],
}

/// What an execution found.
pub struct Found {
    /// Events in order, as text.
    pub events: Vec<String>,
    /// Rules by which the last read is kept apart from the write before it.
    pub rules: BTreeSet<&'static str>,
    /// What was assumed, without what every execution assumes.
    pub assumed: Vec<String>,
}

/// A call that the original has made: its shape and what it left, which the candidate's call leaves, too.
#[derive(Clone)]
struct Called {
    shape: Shape,
    results: Vec<TermId>,
    world: TermId,
}

struct Runner<'c, 'a> {
    context: &'c mut Context<'a>,
    known: Known,
    called: Vec<Called>,
    accesses: Vec<Access>,
    worlds: Vec<TermId>,
    events: Vec<String>,
}

pub fn run(fixture: Fixture) -> Found {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    let functions: Vec<Function> = read_functions(&mut arena, fixture.programs, Form::Normal)
        .unwrap_or_else(|error| panic!("{error}\n{}", fixture.programs));
    let given = fixture.given.map_or("true", |given| given);
    let condition = arena.read(given, Some(Sort::Bool), Form::Normal).unwrap_or_else(|error| panic!("{error}"));
    let interval = |(offset, size): &(i64, u64)| Some(Interval { offset: *offset, size: *size });
    let bindings: Vec<Binding> = fixture
        .locals
        .iter()
        .map(|local| Binding { original: interval(local), candidate: interval(local), escapes: true })
        .collect();
    let (original, candidate) = (&functions[0], functions.get(1).unwrap_or(&functions[0]));
    let mut context = Context::new(&mut arena, original, candidate, bindings);
    context.widens = fixture.given.is_some();
    let known = Known::from_condition(context.arena, condition);
    let mut runner = Runner {
        context: &mut context,
        known,
        called: Vec::new(),
        accesses: Vec::new(),
        worlds: Vec::new(),
        events: Vec::new(),
    };
    for side in Side::BOTH.into_iter().take(functions.len()) {
        let state = runner.context.entry_state(side);
        runner.piece(side, Function::ENTRY, state, 0);
    }
    let rules = runner.rules();
    let (mut events, assumptions) = (runner.events, &context.assumptions);
    if functions.len() == 1 {
        events.iter_mut().for_each(|event| *event = event.trim_start_matches("original ").to_string());
    }
    events.iter_mut().for_each(|event| *event = unnumbered(event));
    let assumed = assumptions.iter().map(|a| unnumbered(&a.to_string())).filter(|a| !is_usual(a)).collect();
    Found { events, rules, assumed }
}

/// What every execution of a function with memory assumes, and what each library function does.
fn is_usual(assumption: &str) -> bool {
    let usual = ["library(", "no-volatile-casts(", "sequential", "frame-private"];
    usual.iter().any(|usual| assumption.starts_with(usual))
}

/// A text without the numbers of new variables, which say nothing.
fn unnumbered(text: &str) -> String {
    let mut parts = text.split('#');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push('#');
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

impl Runner<'_, '_> {
    fn piece(&mut self, side: Side, from: program::PointId, state: State, calls: usize) {
        let none = FxHashSet::default();
        let known = self.known.clone();
        let run = match self.context.execute(side, from, state, &none, &known, Joins::Merge) {
            Ok(run) => run,
            Err(stuck) => return self.say(side, format!("stuck: {stuck:?}")),
        };
        self.context.note_accesses(side, &run);
        self.accesses.extend_from_slice(&run.accesses);
        for fault in &run.faults {
            let guard = self.context.arena.text(fault.guard);
            self.say(side, format!("faults ({}) if {guard}", fault.kind.name()));
        }
        for arrival in run.arrivals {
            let when = match self.context.arena.as_bool(arrival.guard) {
                Some(true) => String::new(),
                _ => format!(" if {}", self.context.arena.text(arrival.guard)),
            };
            match arrival.event {
                Event::Return(_) => self.returned(side, &arrival.state, &when),
                Event::Call(point) => self.call(side, point, arrival.state, &when, calls),
                Event::Head(_) => self.say(side, "at a loop".to_string()),
            }
        }
    }

    fn say(&mut self, side: Side, what: String) {
        self.events.push(format!("{} {what}", side.name()));
    }

    fn returned(&mut self, side: Side, state: &State, when: &str) {
        let results = self.context.functions[0].signature.clone().map_or(Vec::new(), |s| s.results);
        let mut values: Vec<String> = Vec::new();
        for value in results {
            let value = self.context.value_at(state, &value, side, 0);
            values.push(value.map_or_else(|e| format!("{e:?}"), |value| self.context.arena.text(value)));
        }
        self.worlds.push(state.world);
        self.say(side, format!("returns {}{when}", values.join(", ")));
    }

    fn call(&mut self, side: Side, point: program::PointId, mut state: State, when: &str, number: usize) {
        let function = self.context.functions[side.index()];
        let Next::Call(call) = &function.point(point).next else { panic!("no call") };
        let name = self.context.callee_name(&call.callee, &state);
        let hint = match (&name, &call.callee) {
            (Some(name), _) => name.clone(),
            (None, Callee::Pointer(_)) => "pointer".to_string(),
            (None, Callee::Named(name)) => name.clone(),
        };
        let shape = match self.called.get(number) {
            _ if side == Side::Original => self.context.shape(name.as_deref(), Some(point), &state),
            Some(called) => called.shape.clone(),
            None => return self.say(side, format!("calls {hint} once more")),
        };
        let arguments = match self.context.arguments(side, 0, &state, &shape) {
            Ok(arguments) => arguments,
            Err(stuck) => return self.say(side, format!("calls {hint}: {stuck:?}")),
        };
        self.context.publish(&mut state);
        let texts: Vec<String> = arguments.iter().map(|argument| self.context.arena.text(*argument)).collect();
        if side == Side::Original {
            // What a callee returns is younger than what it was given.
            self.context.tick();
            let results = self.context.fresh_results(&shape, &hint);
            let world = self.context.fresh("world", Sort::Memory);
            self.called.push(Called { shape, results, world });
        }
        let Called { shape, mut results, world } = self.called[number].clone();
        let refused = shape.refused.as_ref().map_or(String::new(), |what| format!(", refused: {what}"));
        self.say(side, format!("calls {hint}({}){when}{refused}", texts.join(", ")));
        if shape.noreturn {
            return self.say(side, "does not return".to_string());
        }
        if let Some(known) = self.context.known_result(side, &shape, &state, 0) {
            results[0] = known;
        }
        let world = if shape.preserves { state.world } else { world };
        self.context.after_call(side, &mut state, &shape, &results, world);
        match call.returns {
            Some(next) => self.piece(side, next, state, number + 1),
            None => self.returned(side, &state, ""),
        }
    }

    /// Which rules keep the last read apart from the write before it, and from the trace of volatile accesses.
    fn rules(&mut self) -> BTreeSet<&'static str> {
        let known = self.known.clone();
        let Some(last) = self.accesses.iter().rposition(|access| !access.write) else { return BTreeSet::new() };
        let read = self.accesses[last];
        let mut written: Vec<(TermId, u16)> =
            self.accesses[..last].iter().rfind(|a| a.write).map(|a| (a.address, a.bytes)).into_iter().collect();
        for mut world in self.worlds.clone() {
            while let Op::Store(bytes) = self.context.arena.op(world) {
                let address = self.context.arena.arg(world, 1);
                // No access of the program: the trace of what is volatile.
                let var = self.context.arena.as_var(address);
                if var.is_some_and(|var| self.context.arena.var_name(var).starts_with('§')) {
                    written.push((address, bytes));
                }
                world = self.context.arena.arg(world, 0);
            }
        }
        let before = self.context.look_from(&known);
        let mut rules = BTreeSet::new();
        for (address, bytes) in written {
            if let (Alias::Disjoint, Some(rule)) = self.context.alias_by_rule(read.address, read.bytes, address, bytes)
            {
                rules.insert(rule);
            }
        }
        self.context.stand(before);
        rules
    }
}
