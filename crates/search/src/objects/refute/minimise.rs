//! Makes inputs small without losing the difference.

use super::runner::{Found, Runner};
use crate::objects::inputs::Input;
use interpreter::Effects;
use std::time::Instant;
use term::{Arena, Bits};

/// Buffers that a pointer is moved to.
const BUFFERS_TRIED: u64 = 6;

impl<'a> Runner<'a> {
    /// A simpler input on which the programs still disagree: quiet callees, small arguments, zero bytes.
    pub(super) fn minimise(&mut self, arena: &Arena, mut found: Found, until: Instant) -> Found {
        if found.input.effects != Effects::Quiet {
            self.simpler(arena, &mut found, |input| input.effects = Effects::Quiet);
        }
        for i in 0..self.arguments.len() {
            let argument = self.arguments[i].clone();
            if argument.pointer && self.meets_another(&found.input, i) {
                self.separate(arena, &mut found, i);
            }
            if argument.pointer || !argument.choices.is_empty() {
                continue;
            }
            for value in [0, 1, 2, u64::MAX] {
                let value = argument.fit(Bits::new(64, value).resize(argument.width()));
                if Instant::now() >= until || found.input.values[i] == value {
                    break;
                }
                let arguments = self.arguments.clone();
                if self.simpler(arena, &mut found, |input| input.set(&arguments, i, value)) {
                    break;
                }
            }
        }
        self.traces(arena, &found.input);
        let read = self.looked_at(&found.input).into_iter().filter(|(_, byte)| *byte != 0).map(|(at, _)| at);
        let read: Vec<u64> = read.take(512).collect();
        let mut chunk = read.len();
        while chunk > 0 && Instant::now() < until {
            for part in read.chunks(chunk) {
                self.simpler(arena, &mut found, |input| input.fixed.extend(part.iter().map(|at| (*at, 0))));
                if Instant::now() >= until {
                    break;
                }
            }
            chunk /= 2;
        }
        found
    }

    /// Does a pointer lead into the same buffer as an earlier one?
    fn meets_another(&self, input: &Input, argument: usize) -> bool {
        let buffer = |i: usize| input.values[i].low().wrapping_sub(interpreter::BUFFERS) / interpreter::BUFFER_SPACING;
        (0..argument).any(|other| self.arguments[other].pointer && buffer(other) == buffer(argument))
    }

    /// Makes a pointer lead to a buffer of its own, if the programs still disagree then: a difference that needs no overlap should
    /// not show one.
    fn separate(&mut self, arena: &Arena, found: &mut Found, argument: usize) {
        let arguments = self.arguments.clone();
        for buffer in 0..BUFFERS_TRIED {
            let value = Bits::new(64, interpreter::pointer_to_buffer(buffer)).resize(arguments[argument].width());
            let mut input = found.input.clone();
            input.set(&arguments, argument, value);
            let apart = !self.meets_another(&input, argument);
            if apart && self.simpler(arena, found, |input| input.set(&arguments, argument, value)) {
                break;
            }
        }
    }

    /// Changes the input, if the programs still disagree then.
    fn simpler(&mut self, arena: &Arena, found: &mut Found, change: impl Fn(&mut Input)) -> bool {
        let mut input = found.input.clone();
        change(&mut input);
        input.take_stack(&self.arguments);
        match self.try_input(arena, &input) {
            Some(still) => {
                *found = still;
                true
            }
            None => false,
        }
    }
}
