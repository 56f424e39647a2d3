//! x
use crate::Interface;
use kernel::Expression;
/// Shows.
pub fn render(expression: &Expression, _interface: &Interface) -> String {
    format!("{{{expression}}}")
}
