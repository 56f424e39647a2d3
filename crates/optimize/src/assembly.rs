//! Assembly text as compilers write it: which section a line is in, where a function begins and ends, what it needs.
//!
//! Nothing here knows instructions. A function is the lines from its label to its `.size`; what it needs besides are the local
//! labels (`.LC0`) that it names and that are defined elsewhere, each with its data.
//!
//! Trust: none. A mistake here makes a file that does not assemble, or one whose function is not proved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How operands are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `movl %eax, %ecx`
    Att,
    /// `mov ecx, eax`
    Intel,
}

impl Syntax {
    /// The directive after which lines are read so.
    pub fn directive(self) -> &'static str {
        match self {
            Syntax::Att => "\t.att_syntax prefix",
            Syntax::Intel => "\t.intel_syntax noprefix",
        }
    }
}

/// A line and where it stands.
#[derive(Clone, Debug)]
pub struct Line {
    /// The text, without the end of the line.
    pub text: String,
    /// The directive that begins the section, in one spelling.
    pub section: String,
    /// How its operands are written.
    pub syntax: Syntax,
}

/// An assembly file.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    lines: Vec<Line>,
}

/// Why a function cannot be taken out of a file or put into it, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CannotExchange(pub String);

impl fmt::Display for CannotExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotExchange {}

/// A line of a function that moves to another file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// As it stands.
    Text(String),
    /// Back to the section of the function's code, whatever it is called there.
    Home,
}

/// A function, ready to be put into any file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Body {
    /// From behind its label to its `.size`.
    pub code: Vec<Piece>,
    /// Data under local labels that it needs.
    pub data: Vec<String>,
    /// How its operands are written.
    pub syntax: Syntax,
}

impl Listing {
    /// Reads a file's text.
    pub fn parse(text: &str) -> Listing {
        let mut reader = Reader::default();
        Listing { lines: text.lines().map(|line| reader.read(line)).collect() }
    }

    /// Its lines.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The lines of a function, its label first.
    pub fn function(&self, name: &str) -> Result<std::ops::Range<usize>, CannotExchange> {
        let mut starts = (0..self.lines.len()).filter(|i| self.lines[*i].label() == Some(name));
        let start = starts.next().ok_or_else(|| CannotExchange(format!("no label `{name}`")))?;
        if starts.next().is_some() {
            return Err(CannotExchange(format!("`{name}` is defined twice")));
        }
        let sized = (start..self.lines.len()).find(|i| self.lines[*i].sizes(name));
        let end = match sized {
            Some(size) => self.behind_frame(start, size + 1),
            None => self.next_function(start),
        };
        Ok(start..end)
    }

    /// Call frame information may end behind the size.
    fn behind_frame(&self, start: usize, end: usize) -> usize {
        let count = |what: &str| self.lines[start..end].iter().filter(|l| l.directive() == Some(what)).count();
        let opened = count(".cfi_startproc") > count(".cfi_endproc");
        let close = || (end..self.lines.len()).find(|i| self.lines[*i].directive() == Some(".cfi_endproc"));
        if opened { close().map_or(end, |at| at + 1) } else { end }
    }

    /// The end of a function without `.size`: behind its last instruction before another label that others see.
    fn next_function(&self, start: usize) -> usize {
        let home = &self.lines[start].section;
        let ends = |i: &usize| {
            let line = &self.lines[*i];
            line.section != *home || line.label().is_some_and(|label| !is_local(label))
        };
        let mut end = (start + 1..self.lines.len()).find(ends).unwrap_or(self.lines.len());
        // What stands before the next function belongs to it.
        while end > start + 1 && !self.lines[end - 1].is_code() && !self.lines[end - 1].is_frame() {
            end -= 1;
        }
        end
    }

    /// Takes a function out of the file, with the data under local labels that it needs.
    pub fn extract(&self, name: &str) -> Result<Body, CannotExchange> {
        let range = self.function(name)?;
        let home = self.lines[range.start].section.clone();
        let region = &self.lines[range.start + 1..range.end];
        let piece = |line: &Line| match line.begins_section() {
            Some(section) if section == home => Piece::Home,
            _ => Piece::Text(moved(&line.text)),
        };
        let code: Vec<Piece> = region.iter().map(piece).collect();
        let inside: BTreeSet<&str> = region.iter().filter_map(Line::label).collect();
        let mut wanted: Vec<&str> = region.iter().flat_map(Line::symbols).filter(|s| is_local(s)).collect();
        let (mut found, mut data): (BTreeSet<&str>, BTreeMap<usize, Vec<String>>) = Default::default();
        while let Some(label) = wanted.pop() {
            if inside.contains(label) || !found.insert(label) {
                continue;
            }
            let (start, lines) = self.data(label, &range)?;
            wanted.extend(lines.iter().flat_map(|line| line.symbols()).filter(|s| is_local(s)));
            data.entry(start).or_insert_with(|| written(lines));
        }
        let data = data.into_values().flatten().collect();
        Ok(Body { code, data, syntax: self.lines[range.start].syntax })
    }

    /// The data under a local label, or the line that defines it.
    fn data(&self, label: &str, function: &std::ops::Range<usize>) -> Result<(usize, &[Line]), CannotExchange> {
        let missing = || CannotExchange(format!("no definition of `{label}`"));
        if let Some(at) = self.lines.iter().position(|line| line.sets(label)) {
            return Ok((at, &self.lines[at..=at]));
        }
        let at = self.lines.iter().position(|line| line.label() == Some(label)).ok_or_else(missing)?;
        let section = &self.lines[at].section;
        if is_code_section(section) && !function.contains(&at) {
            return Err(CannotExchange(format!("code of another function at `{label}`")));
        }
        if !section.contains(".rodata") && !section.contains(".data.rel.ro") {
            return Err(CannotExchange(format!("data at `{label}` that can be written")));
        }
        let leads = |line: &Line| line.label().is_some() || line.is_header();
        let mut start = at;
        while start > 0 && leads(&self.lines[start - 1]) && self.lines[start - 1].section == *section {
            start -= 1;
        }
        let goes_on = |line: &Line| line.section == *section && (line.is_data() || line.is_empty());
        let mut end = at + 1;
        while end < self.lines.len() && (goes_on(&self.lines[end]) || end - at == 1 && leads(&self.lines[end])) {
            end += 1;
        }
        Ok((start, &self.lines[start..end]))
    }

    /// The same file with another function under that name.
    pub fn exchange(&self, name: &str, body: &Body) -> Result<String, CannotExchange> {
        let range = self.function(name)?;
        let removed: BTreeSet<&str> = self.lines[range.start + 1..range.end].iter().filter_map(Line::label).collect();
        let rest = || self.lines[..range.start].iter().chain(&self.lines[range.end..]);
        let about = |line: &Line| line.directive().is_some_and(|d| d == ".size" || d == ".type");
        let named: BTreeSet<&str> = rest().filter(|l| !about(l)).flat_map(Line::symbols).collect();
        if let Some(other) = removed.iter().find(|label| !is_local(label) && named.contains(**label)) {
            return Err(CannotExchange(format!("`{other}` is defined inside `{name}`")));
        }
        let orphan = |line: &Line| about(line) && line.symbols().next().is_some_and(|s| removed.contains(s));
        let mut out: Vec<String> = Vec::new();
        out.extend(self.lines[..range.start].iter().filter(|line| !orphan(line)).map(|line| line.text.clone()));
        // Debug information may name places in code that is gone.
        let kept: Vec<&str> =
            removed.iter().copied().filter(|label| is_local(label) && named.contains(label)).collect();
        let (begin, end): (Vec<&str>, Vec<&str>) = kept.into_iter().partition(|label| marks_start(label));
        let first = &self.lines[range.start];
        out.push("\t.p2align 4".to_string());
        out.push(format!("{name}:"));
        out.extend(begin.iter().map(|label| format!("{label}:")));
        out.extend(body.lines(name, first.syntax, &first.section));
        out.extend(end.iter().map(|label| format!("{label}:")));
        out.extend(self.lines[range.end..].iter().filter(|line| !orphan(line)).map(|line| line.text.clone()));
        out.push(String::new());
        Ok(out.join("\n"))
    }

    /// Does code outside the function call it or jump to it?
    pub fn is_called(&self, name: &str) -> bool {
        let Ok(range) = self.function(name) else { return false };
        let outside = self.lines[..range.start].iter().chain(&self.lines[range.end..]);
        outside.filter(|line| line.is_code()).any(|line| line.symbols().any(|symbol| symbol == name))
    }
}

impl Body {
    /// The lines behind the function's label in a file that goes on in this syntax.
    fn lines(&self, name: &str, syntax: Syntax, home: &str) -> Vec<String> {
        let mut out = Vec::new();
        let other = self.syntax != syntax;
        out.extend(other.then(|| self.syntax.directive().to_string()));
        out.extend(self.code.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Home => format!("\t{home}"),
        }));
        out.extend(other.then(|| syntax.directive().to_string()));
        let sized = self.code.iter().any(|p| matches!(p, Piece::Text(text) if text.trim_start().starts_with(".size")));
        out.extend((!sized).then(|| format!("\t.size\t{name}, .-{name}")));
        out.extend(self.data.iter().cloned());
        out
    }

    /// A file that holds nothing but the function.
    pub fn alone(&self, name: &str) -> String {
        let mut out = vec!["\t.text".to_string(), "\t.p2align 4".to_string(), format!("\t.globl\t{name}")];
        out.push(format!("\t.type\t{name}, @function"));
        out.push(format!("{name}:"));
        out.extend(self.lines(name, Syntax::Att, ".text"));
        out.push("\t.section\t.note.GNU-stack,\"\",@progbits".to_string());
        out.push(String::new());
        out.join("\n")
    }
}

/// Data in its own section, after which the file goes on where it was.
fn written(lines: &[Line]) -> Vec<String> {
    let text = lines.iter().map(|line| moved(&line.text));
    if lines.iter().all(|line| line.directive() == Some(".set")) {
        return text.collect();
    }
    let section = lines[0].section.trim_start_matches(".section").trim();
    let begin = format!("\t.pushsection\t{section}");
    std::iter::once(begin).chain(text).chain(["\t.popsection".to_string()]).collect()
}

/// The text with local labels that no compiler uses.
fn moved(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut before) = (false, ' ');
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '"' && before != '\\' {
            quoted = !quoted;
        }
        let local = !quoted && !is_symbol(before) && rest.starts_with(".L");
        out.push_str(if local { ".Lx" } else { &rest[..c.len_utf8()] });
        rest = &rest[if local { 2 } else { c.len_utf8() }..];
        before = if local { 'L' } else { c };
    }
    out
}

fn is_symbol(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '$'
}

fn is_local(label: &str) -> bool {
    label.starts_with(".L")
}

fn is_code_section(section: &str) -> bool {
    section == ".text" || section.starts_with(".section .text")
}

/// Labels by which debug information and exception tables find the beginning of a function.
fn marks_start(label: &str) -> bool {
    [".LFB", ".Lfunc_begin", ".LHOTB", ".LCOLDB"].iter().any(|prefix| label.starts_with(prefix))
}

impl Line {
    fn code_text(&self) -> &str {
        let text = self.text.split('#').next().unwrap_or("");
        text.trim()
    }

    /// The label that it defines.
    pub fn label(&self) -> Option<&str> {
        let text = self.text.trim_start();
        let end = text.find(|c| !is_symbol(c))?;
        (end > 0 && text[end..].starts_with(':')).then(|| &text[..end])
    }

    /// The directive that it begins with.
    pub fn directive(&self) -> Option<&str> {
        let text = self.code_text();
        let word = text.split_whitespace().next()?;
        (word.starts_with('.') && !word.ends_with(':') && self.label().is_none()).then_some(word)
    }

    fn is_code(&self) -> bool {
        let text = match self.label() {
            Some(label) => {
                self.code_text().trim_start().strip_prefix(label).map_or("", |rest| rest.trim_start_matches(':').trim())
            }
            None => self.code_text(),
        };
        !text.is_empty() && !text.starts_with('.')
    }

    fn is_frame(&self) -> bool {
        self.directive().is_some_and(|directive| directive.starts_with(".cfi_"))
    }

    /// Does it say something about the label that follows?
    fn is_header(&self) -> bool {
        self.directive().is_some_and(|d| [".align", ".p2align", ".balign", ".type"].contains(&d))
    }

    fn is_empty(&self) -> bool {
        self.code_text().is_empty()
    }

    fn is_data(&self) -> bool {
        const DATA: &[&str] = &[
            ".ascii", ".asciz", ".string", ".byte", ".2byte", ".short", ".value", ".word", ".hword", ".4byte", ".long",
            ".int", ".8byte", ".quad", ".octa", ".float", ".single", ".double", ".zero", ".skip", ".space", ".size",
        ];
        self.directive().is_some_and(|directive| DATA.contains(&directive))
    }

    fn sizes(&self, name: &str) -> bool {
        self.directive() == Some(".size") && self.symbols().next() == Some(name)
    }

    fn sets(&self, label: &str) -> bool {
        self.directive() == Some(".set") && self.symbols().next() == Some(label)
    }

    /// Symbols in it, the directive or the instruction apart.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        let text = self.code_text();
        let text = match self.label() {
            Some(label) => text.trim_start().strip_prefix(label).unwrap_or(""),
            None => text.split_once(char::is_whitespace).map_or("", |(_, operands)| operands),
        };
        let symbol = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '.');
        text.split(|c| !is_symbol(c)).filter(symbol)
    }

    /// The section that begins here, in one spelling.
    fn begins_section(&self) -> Option<String> {
        section_directive(self.code_text())
    }
}

fn section_directive(text: &str) -> Option<String> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match word {
        ".text" | ".data" | ".bss" => Some(word.to_string()),
        ".section" | ".pushsection" => {
            let rest: String = rest.split_whitespace().collect();
            Some(if rest == ".text" { rest } else { format!(".section {rest}") })
        }
        _ => None,
    }
}

/// Follows sections and syntax from line to line.
struct Reader {
    section: String,
    previous: String,
    pushed: Vec<(String, String)>,
    syntax: Syntax,
}

impl Default for Reader {
    fn default() -> Reader {
        let text = || ".text".to_string();
        Reader { section: text(), previous: text(), pushed: Vec::new(), syntax: Syntax::Att }
    }
}

impl Reader {
    fn read(&mut self, text: &str) -> Line {
        let line = Line { text: text.to_string(), section: self.section.clone(), syntax: self.syntax };
        match line.directive() {
            Some(".intel_syntax") => self.syntax = Syntax::Intel,
            Some(".att_syntax") => self.syntax = Syntax::Att,
            Some(".popsection") => {
                if let Some((section, previous)) = self.pushed.pop() {
                    (self.section, self.previous) = (section, previous);
                }
            }
            Some(".previous") => std::mem::swap(&mut self.section, &mut self.previous),
            Some(directive) => {
                if directive == ".pushsection" {
                    self.pushed.push((self.section.clone(), self.previous.clone()));
                }
                if let Some(section) = section_directive(line.code_text()) {
                    self.previous = std::mem::replace(&mut self.section, section);
                }
            }
            None => {}
        }
        Line { section: self.section.clone(), ..line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const GCC: &str = "\t.text\n\t.globl\tg\ng:\n\tcall\tf\n\tret\n\t.size\tg, .-g\n\t.globl\tf\n\t.type\tf, @function\nf:\n\
        .LFB1:\n\t.cfi_startproc\n\tmulss\t.LC0(%rip), %xmm0\n\tjmp\t*.L4(,%rdi,8)\n\t.section\t.rodata\n\t.align 8\n.L4:\n\
        \t.quad\t.L5\n\t.text\n.L5:\n\tret\n\t.cfi_endproc\n.LFE1:\n\t.size\tf, .-f\n\t.section\t.rodata.cst4,\"aM\",@progbits,4\n\
        \t.align 4\n.LC0:\n\t.long\t1065353216\n\t.set\t.LC1,.LC0\n";

    fn exchanges(base: &str, from: &str, expect: Expect) {
        let body = Listing::parse(from).extract("f");
        let text = body.and_then(|body| Listing::parse(base).exchange("f", &body));
        expect.assert_eq(&text.unwrap_or_else(|error| format!("error: {error}")));
    }

    #[test]
    fn a_function_moves_with_its_constants_and_its_jump_table() {
        let base = "\t.section .text.f,\"ax\"\n\t.globl f\nf:\n\tret\n\t.size f, .-f\n";
        exchanges(
            base,
            GCC,
            expect![[r#"
                	.section .text.f,"ax"
                	.globl f
                	.p2align 4
                f:
                .LxFB1:
                	.cfi_startproc
                	mulss	.LxC0(%rip), %xmm0
                	jmp	*.Lx4(,%rdi,8)
                	.section	.rodata
                	.align 8
                .Lx4:
                	.quad	.Lx5
                	.section .text.f,"ax"
                .Lx5:
                	ret
                	.cfi_endproc
                .LxFE1:
                	.size	f, .-f
                	.pushsection	.rodata.cst4,"aM",@progbits,4
                	.align 4
                .LxC0:
                	.long	1065353216
                	.popsection
            "#]],
        );
    }

    #[test]
    fn syntax_is_changed_and_changed_back() {
        let base = "\t.intel_syntax noprefix\n\t.text\nf:\n\tmov eax, edi\n\tret\n\t.size f, .-f\nh:\n\tret\n";
        exchanges(
            base,
            "\t.text\nf:\n\tmovl %edi, %eax\n\tret\n\t.size f, .-f\n",
            expect![[r#"
                	.intel_syntax noprefix
                	.text
                	.p2align 4
                f:
                	.att_syntax prefix
                	movl %edi, %eax
                	ret
                	.size f, .-f
                	.intel_syntax noprefix
                h:
                	ret
            "#]],
        );
    }

    #[test]
    fn labels_that_debug_information_names_stay() {
        let base = "\t.text\nf:\n.LFB0:\n\tnop\n.LVL1:\n\tret\n.LFE0:\n\t.size f, .-f\n\t.section .debug_info\n\t.quad .LFB0\n\t.quad .LVL1\n\t.quad .LFE0\n";
        exchanges(
            base,
            "f:\n\tret\n\t.size f, .-f\n",
            expect![[r#"
                	.text
                	.p2align 4
                f:
                .LFB0:
                	ret
                	.size f, .-f
                .LFE0:
                .LVL1:
                	.section .debug_info
                	.quad .LFB0
                	.quad .LVL1
                	.quad .LFE0
            "#]],
        );
    }

    #[test]
    fn a_function_without_a_size_ends_before_what_belongs_to_the_next() {
        let base = "f:\n\tmovl %edi, %eax\n.Lend:\n\tret\n\n\t.globl g\n\t.p2align 4\ng:\n\tret\n";
        exchanges(
            base,
            "f:\n\tnop\n\tret\n",
            expect![[r#"
                	.p2align 4
                f:
                	nop
                	ret
                	.size	f, .-f

                	.globl g
                	.p2align 4
                g:
                	ret
            "#]],
        );
    }

    #[test]
    fn what_cannot_be_moved_is_refused() {
        let base = "f:\n\tret\n\t.size f, .-f\n";
        exchanges(base, "g:\n\tret\n", expect!["error: no label `f`"]);
        exchanges(base, "f:\n\tret\n\t.size f, .-f\nf:\n\tret\n", expect!["error: `f` is defined twice"]);
        exchanges(
            base,
            "f:\n\tjmp .L1\n\t.size f, .-f\ng:\n.L1:\n\tret\n",
            expect!["error: code of another function at `.L1`"],
        );
        exchanges(
            base,
            "f:\n\tincl .L1(%rip)\n\tret\n\t.size f, .-f\n\t.data\n.L1:\n\t.long 0\n",
            expect!["error: data at `.L1` that can be written"],
        );
        exchanges(base, "f:\n\tjmp .L7\n\t.size f, .-f\n", expect!["error: no definition of `.L7`"]);
        let inside = "f:\n\tnop\ng:\n\tret\n\t.size f, .-f\nh:\n\tjmp g\n";
        exchanges(inside, base, expect!["error: `g` is defined inside `f`"]);
    }

    #[test]
    fn callers_are_seen() {
        assert!(Listing::parse(GCC).is_called("f"));
        assert!(!Listing::parse(GCC).is_called("g"));
        assert!(!Listing::parse("f:\n\tjne f\n\t.size f, .-f\n\t.globl f\n").is_called("f"));
    }
}
