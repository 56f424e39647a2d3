//! What is known about a callee of either program.

use library::Contract;
use program::contract::{LocalContract, LocalEffect};
use program::{Callee, Function, Next, PointId, Signature};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// A callee as both programs see it.
#[derive(Clone, Debug)]
pub struct CalleeInfo<'a> {
    /// Its name, or the address called.
    pub name: Rc<str>,
    /// From debug information of either program, or from the library table.
    pub signature: Option<Signature>,
    /// The library's contract, if neither program defines it.
    pub library: Option<&'static Contract>,
    /// The contract of a local function of both programs.
    pub local: Option<&'a LocalContract>,
    /// Does a program define it itself?
    pub defined: bool,
    /// Is it invisible outside its file? Then compilers may know its callers and what it does.
    pub hidden: bool,
    /// Is it the function that is compared?
    pub own: bool,
    /// Does somebody say that it never returns: a declaration, or code that ends behind a call?
    pub never_returns: bool,
    /// Does a program say that it is called in a way that is not modelled? Then the other's declaration does not tell where its
    /// arguments are.
    pub foreign: bool,
    /// Is it certain that it can return: by a declaration, or by code that only its return leads to?
    pub returns: bool,
}

impl CalleeInfo<'_> {
    /// Is its result, unless null, the address of a new object? A function of another file with such a name may be declared
    /// to return one (`malloc`), which debug information does not show.
    pub fn returns_fresh(&self) -> bool {
        let named = || self.library.is_none() && !self.defined && self.name.contains("alloc");
        self.library.is_some_and(Contract::returns_fresh) || self.local.is_some_and(|c| c.returns_fresh) || named()
    }

    /// Is a call of it no event, because it only computes a result?
    pub fn is_silent_local(&self) -> bool {
        self.local.is_some_and(|c| c.effect <= LocalEffect::Reads) && self.signature.is_some() && !self.own
    }
}

/// The callees of a pair, looked up once.
pub struct Callees<'a> {
    functions: [&'a Function; 2],
    known: RefCell<FxHashMap<String, Rc<CalleeInfo<'a>>>>,
}

impl<'a> Callees<'a> {
    /// The callees of a pair.
    pub fn new(functions: [&'a Function; 2]) -> Callees<'a> {
        Callees { functions, known: RefCell::default() }
    }

    /// What is known about a callee by its name.
    pub fn find(&self, name: &str) -> Rc<CalleeInfo<'a>> {
        if let Some(info) = self.known.borrow().get(name) {
            return Rc::clone(info);
        }
        let info = Rc::new(self.describe(name));
        self.known.borrow_mut().insert(name.to_string(), Rc::clone(&info));
        info
    }

    /// What is known about a callee that is only an address.
    pub fn at_address(&self, address: u64, signature: Option<&Signature>) -> Rc<CalleeInfo<'a>> {
        let info = self.find(&format!("{address:#x}"));
        match signature.filter(|s| s.unsupported.is_none()) {
            Some(signature) => Rc::new(CalleeInfo { signature: Some(signature.clone()), ..(*info).clone() }),
            None => info,
        }
    }

    fn describe(&self, name: &str) -> CalleeInfo<'a> {
        let [original, candidate] = self.functions;
        let defined = self.functions.iter().any(|f| f.defined.contains(name));
        let library = library::applicable(self.functions, name);
        let of = |function: &'a Function| function.callees.get(name).filter(|s| s.unsupported.is_none());
        let signature = of(original).or_else(|| of(candidate)).cloned().or_else(|| library.map(Contract::signature));
        // Without a declaration the original goes on behind a call that never returns, into code that is not meant.
        let declared = self.functions.iter().any(|f| f.callees.get(name).is_some_and(|s| s.noreturn));
        let never_returns =
            declared || library.is_some_and(|c| c.noreturn) || self.functions.iter().any(|f| ends_behind(f, name));
        let returns =
            signature.is_some() || library.is_some() || self.functions.iter().any(|f| leads_somewhere(f, name));
        let hidden = self.functions.iter().any(|f| f.surroundings.local_callees.contains(name));
        let own = self.functions.iter().any(|f| f.name == name);
        let foreign = self.functions.iter().any(|f| f.callees.get(name).is_some_and(|s| s.unsupported.is_some()));
        CalleeInfo {
            name: name.into(),
            signature,
            library,
            local: original.contracts.get(name),
            defined,
            hidden,
            own,
            never_returns,
            foreign,
            returns,
        }
    }
}

/// Does the function's code end behind a call of this callee?
fn ends_behind(function: &Function, name: &str) -> bool {
    function.points.iter().any(|point| match &point.next {
        Next::Call(call) => !call.tail && call.returns.is_none() && call.callee == Callee::Named(name.to_string()),
        _ => false,
    })
}

/// Does the return of some call of this callee lead to code that nothing else leads to? Compilers write no code that is never
/// reached.
fn leads_somewhere(function: &Function, name: &str) -> bool {
    let behind = function.points.iter().filter_map(|point| match &point.next {
        Next::Call(call) if !call.tail && call.callee == Callee::Named(name.to_string()) => call.returns,
        _ => None,
    });
    behind.map(|target| past_padding(function, target)).any(|target| {
        let ways = |next: &Next| match next {
            Next::Edges(edges) => edges.iter().filter(|edge| edge.target == target).count(),
            Next::Call(call) => usize::from(call.returns == Some(target)),
            Next::Return | Next::Fault(_) => 0,
        };
        target != Function::ENTRY && function.points.iter().map(|point| ways(&point.next)).sum::<usize>() == 1
    })
}

/// The first point with an instruction in it.
fn past_padding(function: &Function, mut at: PointId) -> PointId {
    for _ in 0..function.points.len() {
        match &function.point(at).next {
            Next::Edges(edges) if edges.len() == 1 && function.point(at).ops.is_empty() => at = edges[0].target,
            _ => break,
        }
    }
    at
}
