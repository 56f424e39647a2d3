//! Makes inputs small without losing the difference.

use super::compare::Difference;
use super::runner::Runner;
use crate::inputs::Input;
use graph::interpreter::Effects;
use std::time::Instant;
use term::{Arena, Bits};

impl<'a> Runner<'a> {
    /// A simpler input on which the programs still disagree: quiet callees, small arguments, zero bytes.
    pub(super) fn minimise(
        &mut self,
        arena: &Arena,
        mut input: Input,
        mut difference: Difference,
        until: Instant,
    ) -> (Input, Difference) {
        let mut quiet = input.clone();
        quiet.effects = Effects::Quiet;
        if input.effects != Effects::Quiet
            && let Some(still) = self.try_input(arena, &quiet)
        {
            (input, difference) = (quiet, still);
        }
        for i in 0..self.arguments.len() {
            let argument = &self.arguments[i];
            let width = argument.width();
            if argument.pointer || !argument.choices.is_empty() {
                continue;
            }
            for value in [0, 1, 2, u64::MAX] {
                let value = Bits::new(64, value).resize(width);
                if Instant::now() >= until || input.values[i] == value {
                    break;
                }
                let mut smaller = input.clone();
                smaller.set(&self.arguments, i, value);
                if let Some(still) = self.try_input(arena, &smaller) {
                    (input, difference) = (smaller, still);
                    break;
                }
            }
        }
        self.traces(arena, &input);
        let mut read: Vec<u64> =
            self.looked_at(&input).into_iter().filter(|(_, byte)| *byte != 0).map(|(at, _)| at).collect();
        read.truncate(512);
        let mut chunk = read.len();
        while chunk > 0 && Instant::now() < until {
            for part in read.chunks(chunk) {
                let mut smaller = input.clone();
                smaller.fixed.extend(part.iter().map(|at| (*at, 0)));
                if let Some(still) = self.try_input(arena, &smaller) {
                    (input, difference) = (smaller, still);
                }
                if Instant::now() >= until {
                    break;
                }
            }
            chunk /= 2;
        }
        (input, difference)
    }
}
