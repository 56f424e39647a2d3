//! The table of the documentation is printed from the table of the code.
//!
//! `UPDATE_EXPECT=1 cargo test -p x86 --test documentation` rewrites docs/supported-instructions.md.

use expect_test::expect_file;
use program::{Flag, Register};
use x86::table::{self, Alignment, Feature, Row, Vex};

const HEAD: &str = "\
# Supported instructions

Printed from the instruction table by `UPDATE_EXPECT=1 cargo test -p x86 --test documentation`; do not edit.

Every form of these instructions that the processor at hand can run is tested against it. An instruction that is
not listed makes the verdict `unknown: unsupported` and is named there; so do `lock` and `rep` prefixes, `xchg` with
memory, EVEX encodings, x87, MMX and segment registers as operands. `jcc`, `setcc` and `cmovcc` stand for all 16
conditions; `movs`, `stos` and the like for all element sizes.

- **needs**: the CPU feature of the legacy form; *base* is every x86-64 CPU.
- **VEX**: `avx` means that the `v` form is supported too (with `ymm` operands where they exist), `avx2` the same with AVX2
  needed for `ymm`, `only` that there is no other form.
- **undefined**: flags without a defined value afterwards; in parentheses those that are undefined in some cases only.
- Vector operands of 16 bytes in memory must be aligned in the legacy form, and the fault is modelled; *unaligned* and
  *always aligned* (in the VEX form too) are the exceptions.
";

#[test]
fn the_list_of_supported_instructions_is_current() {
    let mut out = HEAD.to_string();
    let count = table::rows().count();
    out.push_str(&format!("\n{count} rows.\n"));
    for area in table::AREAS {
        out.push_str(&format!(
            "\n## {}\n\n| instructions | needs | VEX | undefined | remarks |\n|---|---|---|---|---|\n",
            area.title
        ));
        for (names, columns) in grouped(area.rows) {
            out.push_str(&format!("| {} | {columns} |\n", names.join(" ")));
        }
    }
    expect_file!["../../../docs/supported-instructions.md"].assert_eq(&out);
}

/// Neighbouring rows that say the same, on one line.
fn grouped(rows: &[Row]) -> Vec<(Vec<&'static str>, String)> {
    let mut lines: Vec<(Vec<&'static str>, String)> = Vec::new();
    for row in rows {
        let columns = columns(row);
        match lines.iter_mut().find(|(_, other)| *other == columns) {
            Some((names, _)) => names.push(row.name),
            None => lines.push((vec![row.name], columns)),
        }
    }
    lines
}

fn columns(row: &Row) -> String {
    let vex = match row.vex {
        Vex::No => "",
        Vex::Avx => "avx",
        Vex::Avx2 => "avx2",
        Vex::Only => "only",
    };
    let mut undefined = flags(row.undefined);
    if !row.sometimes.is_empty() {
        undefined = format!("{undefined} ({})", flags(row.sometimes)).trim().to_string();
    }
    let mut remarks = Vec::new();
    match row.alignment {
        Alignment::Never => remarks.push("unaligned".to_string()),
        Alignment::Always => remarks.push("always aligned".to_string()),
        Alignment::Legacy => {}
    }
    if let Some(when) = row.undefined_result {
        remarks.push(format!("result undefined: {when}"));
    }
    if row.nan_lanes.is_some() {
        remarks.push("NaN payloads up to `nan-payload`".to_string());
    }
    format!("{} | {vex} | {undefined} | {}", feature(row.feature), remarks.join("; "))
}

fn flags(flags: &[Flag]) -> String {
    let names: Vec<String> = flags.iter().map(|flag| Register::Flag(*flag).name()).collect();
    names.join(" ")
}

fn feature(feature: Feature) -> String {
    format!("{feature:?}").to_lowercase()
}
