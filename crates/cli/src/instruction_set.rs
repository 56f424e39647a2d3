//! Levels of the instruction set, as the x86-64 ABI numbers them.

use crate::status::Failure;
use clap::ValueEnum;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Level {
    /// Whatever this machine has
    Native,
    #[value(name = "x86-64")]
    Baseline,
    V2,
    V3,
    V4,
}

impl Level {
    /// An error if this machine has less.
    pub fn require(self) -> Result<(), Failure> {
        let v2 = std::arch::is_x86_feature_detected!("sse4.2") && std::arch::is_x86_feature_detected!("popcnt");
        let v3 = v2
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("lzcnt");
        let v4 = v3
            && std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512vl");
        let (has, name) = match self {
            Level::Native | Level::Baseline => return Ok(()),
            Level::V2 => (v2, "v2"),
            Level::V3 => (v3, "v3"),
            Level::V4 => (v4, "v4"),
        };
        if has { Ok(()) } else { Err(Failure(format!("this machine is no x86-64-{name}: nothing can be timed"))) }
    }
}
