//! What is known about a callee of either program.

use crate::contract::{LocalContract, LocalEffect};
use crate::library::{self, Contract};
use crate::{Function, Signature};
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
    /// Is it the function that is compared?
    pub own: bool,
}

impl CalleeInfo<'_> {
    /// Is a call of it no event, because it only computes a result?
    pub fn is_silent_local(&self) -> bool {
        self.local.is_some_and(|c| c.effect <= LocalEffect::Reads) && self.signature.is_some() && !self.own
    }

    /// Does it never return?
    pub fn never_returns(&self) -> bool {
        self.signature.as_ref().is_some_and(|s| s.noreturn) || self.library.is_some_and(|c| c.noreturn)
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

    fn describe(&self, name: &str) -> CalleeInfo<'a> {
        let [original, candidate] = self.functions;
        let defined = self.functions.iter().any(|f| f.defined.contains(name));
        let library = if defined { None } else { library::contract(name) };
        let of = |function: &'a Function| function.callees.get(name).filter(|s| s.unsupported.is_none());
        // Whether a call returns is never the candidate's to say.
        let theirs = || of(candidate).map(|s| Signature { noreturn: false, ..s.clone() });
        let signature = of(original).cloned().or_else(theirs).or_else(|| library.map(Contract::signature));
        let own = self.functions.iter().any(|f| f.name == name);
        CalleeInfo { name: name.into(), signature, library, local: original.contracts.get(name), defined, own }
    }
}
