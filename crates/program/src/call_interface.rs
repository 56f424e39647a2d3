//! How a function is called, where its file does not say.
//!
//! Assembly and stripped objects have no debug information. Without any, everything is compared that a caller might look at; whoever
//! knows the function can say what its arguments and results are. That only narrows what a proof is about, so it is an assumption of
//! the proof, `interface(f)`.
//!
//! Trust: full for the kernel, which takes it from the user and prints it.

use crate::{Function, Parameter, Place, Register, Signature, SourceTypes, Value};
use std::sync::Arc;

/// Arguments and results of a function, and the names that its parameters have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallInterface {
    /// Where they are.
    pub signature: Signature,
    /// Their names and types; none if only registers are known.
    pub parameters: Vec<Parameter>,
    /// The types that parameters mention.
    pub source_types: Arc<SourceTypes>,
}

impl CallInterface {
    /// The interface of a function that was compiled with debug information from a declaration.
    pub fn of_described(function: &Function) -> Option<CallInterface> {
        let signature = function.signature.clone()?;
        // What its code does with the parameters is its own matter.
        let parameter = |p: &Parameter| Parameter { arrives: None, located: false, ..p.clone() };
        let parameters = function.parameters.iter().map(parameter).collect();
        Some(CallInterface { signature, parameters, source_types: function.source_types.clone() })
    }

    /// Registers, with how many of their bytes count, that hold something at the start and at the end.
    pub fn of_registers(live_in: &[(Register, u16)], live_out: &[(Register, u16)]) -> CallInterface {
        let value = |(register, bytes): &(Register, u16)| Value {
            place: Place::Register(*register),
            bytes: *bytes,
            boolean: false,
            narrow: None,
        };
        let arguments = live_in.iter().map(value).collect();
        let results = live_out.iter().map(value).collect();
        CallInterface {
            signature: Signature { arguments, results, ..Signature::default() },
            ..CallInterface::default()
        }
    }
}

impl Function {
    /// Is called as somebody says, if its file does not say it itself; tells whether that was so.
    pub fn take_interface(&mut self, interface: &CallInterface) -> bool {
        if self.signature.is_some() {
            return false;
        }
        self.signature = Some(interface.signature.clone());
        self.parameters.clone_from(&interface.parameters);
        self.source_types = interface.source_types.clone();
        true
    }
}
