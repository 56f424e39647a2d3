//! The areas: what can be attacked, one file each.

mod addresses;
mod assembly;
mod calls;
mod contracts;
mod data;
mod float;
mod library;
mod loops;
mod memory;
mod statics;

use crate::builder::{Builder, Setting};
use crate::case::Case;
use crate::random::Random;

/// What the pairs of a batch are about.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// As the command line and the summary call it.
    pub name: &'static str,
    generate: fn(&mut Builder),
}

/// All areas.
pub const AREAS: [Area; 10] = [
    Area { name: "calls", generate: calls::generate },
    Area { name: "contracts", generate: contracts::generate },
    Area { name: "library", generate: library::generate },
    Area { name: "statics", generate: statics::generate },
    Area { name: "addresses", generate: addresses::generate },
    Area { name: "data", generate: data::generate },
    Area { name: "memory", generate: memory::generate },
    Area { name: "loops", generate: loops::generate },
    Area { name: "float", generate: float::generate },
    Area { name: "assembly", generate: assembly::generate },
];

impl Area {
    /// The area of this name.
    pub fn named(name: &str) -> Option<Area> {
        AREAS.into_iter().find(|a| a.name == name)
    }

    /// A case of this area.
    pub fn generate(&self, id: usize, random: &mut Random, setting: Setting, taken: &mut Vec<String>) -> Case {
        let mut builder = Builder::new(id, random, setting, taken);
        (self.generate)(&mut builder);
        builder.finish()
    }
}
