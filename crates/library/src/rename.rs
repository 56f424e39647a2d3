//! Renamings: calls that compilers replace by others, brought to one form.
//!
//! `printf("x\n")` of one program is `puts("x")` of the other. Instead of a rule per pair of functions, every
//! call is brought to its most general form, on both sides, and the forms are compared: both calls above are
//! `fwrite("x\n", 1, 2, stdout)`. A form is a call of a real function, so its contract is in the table.
//!
//! | written | form | result |
//! |---|---|---|
//! | `printf(T)`, `puts(T')`, `fprintf(f, T)`, `fputs(T, f)`, `fwrite(T, …, f)` | `fwrite(T, 1, n, f)` | lost |
//! | the same with one byte, `putchar(c)`, `putc(c, f)`, `printf("%c", c)`, `fwrite(p, 1, 1, f)` | `fputc(c, f)` | kept for the `putc` family |
//! | `printf("%s\n", s)` | `puts(s)` | lost |
//! | `fprintf(f, "%s", s)`, `printf("%s", s)` | `fputs(s, f)` | lost |
//! | the same with nothing to write | no call | 0 or lost |
//! | `sprintf(d, T)`, `snprintf(d, k, T)` | `memcpy(d, T, n)` | length |
//! | `sprintf(d, "%s", s)` | `strcpy(d, s)` | lost |
//! | `stpcpy(d, s)` | `strcpy(d, s)` | `d + strlen(d)` afterwards |
//! | `strcpy(d, T)`, `strncpy(d, T, k)`, `stpcpy(d, T)`, `mempcpy` | `memcpy(d, T, n)` | `d`, end of `d` |
//! | `strcat(d, T)`, `strncat(d, T, k)` | `memcpy(d + strlen(d), T, n)` | `d` |
//! | `bzero`, `bcopy` | `memset`, `memmove` | none |
//! | `bcmp` | `memcmp` | whether zero |
//! | `strchr(s, 0)`, `strrchr(s, 0)` | no call | `s + strlen(s)` |
//! | `strchr(T, c)` | `memchr(T, c, n)` | same |
//! | a pure function of literals | no call | its value |
//! | `atoi`, `strtoll`, … | `strtol`, … | same, or its low bytes |
//! | `gettext(T)`, `ngettext(T, T', n)`, `dgettext`, `dngettext` | `dcgettext(0, T, LC_MESSAGES)`, `dcngettext(0, …)` | same |
//! | `getchar`, `getc`, `vprintf` | `fgetc`, `vfprintf` | same |
//! | `free(0)`, `realloc(0, n)` | no call, `malloc(n)` | same |
//! | `__f_chk(…)` whose check cannot fail | that of `f` | as there |
//!
//! A result that is [`Meaning::Lost`] belongs to one side alone and may be anything: a rule that loses it is for
//! calls whose result is not used. A caller that cannot tell asks twice: if the forms for [`ResultUse::Used`]
//! agree, the results are shared; else if those for [`ResultUse::Unused`] agree, each side's result is a fresh
//! value, universal on both sides (it is chosen by the environment, not by the original).
//!
//! A null argument for `%s` is undefined in C; compilers and this table rely on it.
//!
//! Trust: full. A form must do what the written call does, in every environment.

use super::format::{Piece, pieces};
use super::{Class, Contract, Effect, contract, eval_pure};

/// What is known about an argument before the call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Known {
    /// It points to a NUL-terminated literal with this text, the NUL left out.
    Text(Vec<u8>),
    /// It is this number (only the bytes of its class count).
    Number(u64),
}

/// Does anything after the call depend on its result?
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResultUse {
    /// Nothing does.
    Unused,
    /// Something does, or nobody knows.
    Used,
}

/// A call in another form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Renaming {
    /// What happens instead.
    pub action: Action,
    /// What the written call's result is.
    pub result: Meaning,
}

/// What happens instead of the written call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// No event and no change of memory.
    Nothing,
    /// A call of another function, with all its arguments.
    Call {
        /// A name in the table.
        callee: &'static str,
        /// One for each parameter of the callee's contract.
        arguments: Vec<Argument>,
    },
}

/// A value in terms of the written call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The written argument at this position (the positions of integer-class arguments).
    Given(usize),
    /// Its low byte, zero-extended.
    LowByte(usize),
    /// The byte that it points to, zero-extended: for the candidate a load with the obligations of one.
    ByteAt(usize),
    /// Where the string that it points to ends: the argument + strlen(argument).
    End(usize),
    /// A pointer to read-only memory with exactly these bytes.
    Text(Vec<u8>),
    /// A number.
    Number(u64),
    /// The 8 bytes of the global variable of this name, at the time of the call.
    Stream(&'static str),
}

/// What the written call's result is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// The result of the form (none if that has none).
    Same,
    /// The low bytes of the result of the form.
    Low(u16),
    /// Zero exactly if the result of the form is zero; otherwise anything but zero.
    ZeroTest,
    /// This value.
    Value(Argument),
    /// The sum of these values.
    Sum(Argument, Argument),
    /// Where the string ends that the first argument points to when the call is done.
    EndOfFirst,
    /// Not known: the form does not say what the written call returns.
    Lost,
}

/// The general form of a call, if it differs from the written one. `known` tells what is known about the argument
/// at each position.
pub fn rename(callee: &str, known: &dyn Fn(usize) -> Option<Known>, result: ResultUse) -> Option<Renaming> {
    let row = contract(callee)?;
    let call = Written { known, result };
    let renaming = call.output(callee).or_else(|| call.memory(callee)).or_else(|| call.other(row))?;
    let usable = renaming.result != Meaning::Lost || row.result == Class::Void || result == ResultUse::Unused;
    usable.then_some(renaming)
}

/// The category of messages; libintl.h defines the shorter functions by it, in place for optimised code.
const LC_MESSAGES: Argument = Argument::Number(5);

/// Longest block of literal bytes that a form makes up.
const LONGEST: u64 = 4096;

struct Written<'a> {
    known: &'a dyn Fn(usize) -> Option<Known>,
    result: ResultUse,
}

impl Written<'_> {
    fn text(&self, i: usize) -> Option<Vec<u8>> {
        match (self.known)(i)? {
            Known::Text(text) => Some(text),
            Known::Number(_) => None,
        }
    }

    fn number(&self, i: usize) -> Option<u64> {
        match (self.known)(i)? {
            Known::Number(value) => Some(value),
            Known::Text(_) => None,
        }
    }

    fn format(&self, i: usize) -> Option<Vec<Piece>> {
        pieces(&self.text(i)?, i + 1, self.known)
    }

    /// Output to streams.
    fn output(&self, callee: &str) -> Option<Renaming> {
        use Argument::{ByteAt, Given, Stream};
        const STDOUT: Argument = Stream("stdout");
        match callee {
            "printf" => self.print(STDOUT, 0),
            "__printf_chk" => self.print(STDOUT, 1),
            "fprintf" => self.print(Given(0), 1),
            "__fprintf_chk" => self.print(Given(0), 2),
            "puts" => {
                let mut line = self.text(0)?;
                line.push(b'\n');
                Some(write(STDOUT, line))
            }
            "fputs" => Some(write(Given(1), self.text(0)?)),
            "fwrite" => {
                let bytes = self.number(1)?.checked_mul(self.number(2)?)?;
                if bytes == 0 {
                    return Some(Renaming { action: Action::Nothing, result: Meaning::Value(Argument::Number(0)) });
                }
                match self.text(0) {
                    Some(mut text) => {
                        text.push(0);
                        Some(write(Given(3), text.get(..usize::try_from(bytes).ok()?)?.to_vec()))
                    }
                    None if bytes == 1 => Some(call("fputc", vec![ByteAt(0), Given(3)], Meaning::Lost)),
                    None => None,
                }
            }
            "putchar" => Some(call("fputc", vec![self.byte(0), STDOUT], Meaning::Same)),
            "fputc" | "putc" | "_IO_putc" => Some(call("fputc", vec![self.byte(0), Given(1)], Meaning::Same)),
            "getchar" => Some(call("fgetc", vec![Stream("stdin")], Meaning::Same)),
            "getc" | "_IO_getc" => Some(call("fgetc", vec![Given(0)], Meaning::Same)),
            "vprintf" => Some(call("vfprintf", vec![STDOUT, Given(0), Given(1)], Meaning::Same)),
            _ => None,
        }
    }

    fn byte(&self, i: usize) -> Argument {
        match self.number(i) {
            Some(value) => Argument::Number(u64::from(value as u8)),
            None => Argument::LowByte(i),
        }
    }

    /// Formatted output to a stream.
    fn print(&self, stream: Argument, format: usize) -> Option<Renaming> {
        match self.format(format)?.as_slice() {
            [] => Some(Renaming { action: Action::Nothing, result: Meaning::Value(Argument::Number(0)) }),
            [Piece::Text(text)] => Some(write(stream, text.clone())),
            [Piece::Byte(byte)] => Some(call("fputc", vec![byte.clone(), stream], Meaning::Lost)),
            [Piece::String(string)] => Some(call("fputs", vec![string.clone(), stream], Meaning::Lost)),
            [Piece::String(string), Piece::Text(end)] if end == b"\n" && stream == Argument::Stream("stdout") => {
                Some(call("puts", vec![string.clone()], Meaning::Lost))
            }
            _ => None,
        }
    }

    /// Functions that write to memory.
    fn memory(&self, callee: &str) -> Option<Renaming> {
        use Argument::{End, Given, Number};
        match callee {
            "sprintf" => self.print_to_memory(1),
            "__sprintf_chk" => {
                let size = self.number(2)?;
                let renaming = self.print_to_memory(3)?;
                let fits = match &renaming.action {
                    Action::Call { arguments, .. } => matches!(arguments.get(2), Some(Number(n)) if *n <= size),
                    Action::Nothing => true,
                };
                (fits || size == u64::MAX).then_some(renaming)
            }
            "snprintf" => self.print_to_bounded_memory(2),
            "__snprintf_chk" => (self.number(1)? <= self.number(3)?).then(|| self.print_to_bounded_memory(4))?,
            "strcpy" => Some(copy_text(Given(0), terminated(self.text(1)?), Meaning::Same)),
            "stpcpy" => match self.text(1) {
                Some(text) => {
                    let end = Meaning::Sum(Given(0), Number(text.len() as u64));
                    Some(copy_text(Given(0), terminated(text), end))
                }
                None => Some(call("strcpy", vec![Given(0), Given(1)], Meaning::EndOfFirst)),
            },
            "strncpy" => {
                let (mut text, length) = (self.text(1)?, self.number(2)?);
                if length == 0 {
                    return Some(nothing(Given(0)));
                }
                (length <= LONGEST).then(|| {
                    text.resize(length as usize, 0);
                    copy_text(Given(0), text, Meaning::Same)
                })
            }
            "strcat" | "strncat" => {
                let mut text = self.text(1)?;
                if callee == "strncat" {
                    text.truncate(usize::try_from(self.number(2)?).ok()?);
                }
                if text.is_empty() {
                    return Some(nothing(Given(0)));
                }
                Some(copy_text(End(0), terminated(text), Meaning::Value(Given(0))))
            }
            "mempcpy" => Some(call("memcpy", vec![Given(0), Given(1), Given(2)], Meaning::Sum(Given(0), Given(2)))),
            "bzero" => Some(call("memset", vec![Given(0), Number(0), Given(1)], Meaning::Lost)),
            "bcopy" => Some(call("memmove", vec![Given(1), Given(0), Given(2)], Meaning::Lost)),
            "free" => (self.number(0)? == 0).then_some(Renaming { action: Action::Nothing, result: Meaning::Lost }),
            "realloc" => (self.number(0)? == 0).then(|| call("malloc", vec![Given(1)], Meaning::Same)),
            "__memcpy_chk" => self.unchecked("memcpy", 3, self.number(2)),
            "__memmove_chk" => self.unchecked("memmove", 3, self.number(2)),
            "__mempcpy_chk" => self.unchecked("mempcpy", 3, self.number(2)),
            "__memset_chk" => self.unchecked("memset", 3, self.number(2)),
            "__strncpy_chk" => self.unchecked("strncpy", 3, self.number(2)),
            "__strcpy_chk" => self.unchecked("strcpy", 2, self.text(1).map(|text| text.len() as u64 + 1)),
            "__stpcpy_chk" => self.unchecked("stpcpy", 2, self.text(1).map(|text| text.len() as u64 + 1)),
            "__strcat_chk" => self.unchecked("strcat", 2, None),
            "__strncat_chk" => self.unchecked("strncat", 3, None),
            _ => None,
        }
    }

    /// `sprintf`: the destination is the first argument.
    fn print_to_memory(&self, format: usize) -> Option<Renaming> {
        let to = Argument::Given(0);
        match self.format(format)?.as_slice() {
            [] => Some(copy_text(to, vec![0], Meaning::Value(Argument::Number(0)))),
            [Piece::Text(text)] => {
                let length = Meaning::Value(Argument::Number(text.len() as u64));
                Some(copy_text(to, terminated(text.clone()), length))
            }
            [Piece::String(string)] => Some(call("strcpy", vec![to, string.clone()], Meaning::Lost)),
            _ => None,
        }
    }

    /// `snprintf`: destination and bound are the first arguments.
    fn print_to_bounded_memory(&self, format: usize) -> Option<Renaming> {
        let mut text = match <[Piece; 1]>::try_from(self.format(format)?) {
            Ok([Piece::Text(text)]) => text,
            Ok(_) => return None,
            Err(pieces) if pieces.is_empty() => Vec::new(),
            Err(_) => return None,
        };
        let bound = self.number(1)?;
        let length = Meaning::Value(Argument::Number(text.len() as u64));
        match bound {
            0 => Some(Renaming { action: Action::Nothing, result: length }),
            // POSIX: a bound above INT_MAX is an error.
            1..=0x7fff_ffff => {
                text.truncate(bound as usize - 1);
                Some(copy_text(Argument::Given(0), terminated(text), length))
            }
            _ => None,
        }
    }

    /// A checked function as `inner`, if `needed` bytes fit in the object whose size is the argument at `size`.
    /// The arguments before the size are those of `inner`.
    fn unchecked(&self, inner: &'static str, size: usize, needed: Option<u64>) -> Option<Renaming> {
        let size_of_object = self.number(size)?;
        if size_of_object != u64::MAX && needed.is_none_or(|needed| needed > size_of_object) {
            return None;
        }
        let same = || call(inner, (0..size).map(Argument::Given).collect(), Meaning::Same);
        let usable = |renaming: &Renaming| renaming.result != Meaning::Lost || self.result == ResultUse::Unused;
        Some(self.memory(inner).filter(usable).unwrap_or_else(same))
    }

    /// Everything else.
    fn other(&self, row: &Contract) -> Option<Renaming> {
        use Argument::{End, Given, Number};
        if let Some(value) = self.value_of_literals(row) {
            return Some(Renaming { action: Action::Nothing, result: value });
        }
        let same =
            |callee, arguments: usize| Some(call(callee, (0..arguments).map(Given).collect::<Vec<_>>(), Meaning::Same));
        let decimal = |result| Some(call("strtol", vec![Given(0), Number(0), Number(10)], result));
        match row.name {
            "bcmp" => Some(call("memcmp", vec![Given(0), Given(1), Given(2)], Meaning::ZeroTest)),
            "strchr" | "strrchr" | "index" | "rindex" | "strchrnul" if self.number(1).map(|c| c as u8) == Some(0) => {
                Some(nothing(End(0)))
            }
            "strchr" | "index" if self.text(0).is_some() => {
                let bytes = self.text(0)?.len() as u64 + 1;
                Some(call("memchr", vec![Given(0), Given(1), Number(bytes)], Meaning::Same))
            }
            "index" => same("strchr", 2),
            "rindex" => same("strrchr", 2),
            // C11 7.22.1.2; glibc's header defines it so.
            "atoi" => decimal(Meaning::Low(4)),
            "atol" | "atoll" => decimal(Meaning::Same),
            "atof" => Some(call("strtod", vec![Given(0), Number(0)], Meaning::Same)),
            // `long long` and `intmax_t` are `long`.
            "strtoll" | "strtoimax" => same("strtol", 3),
            "strtoull" | "strtoumax" => same("strtoul", 3),
            "__strtok_r" => same("strtok_r", 3),
            "gettext" => Some(call("dcgettext", vec![Number(0), Given(0), LC_MESSAGES], Meaning::Same)),
            "dgettext" => Some(call("dcgettext", vec![Given(0), Given(1), LC_MESSAGES], Meaning::Same)),
            "ngettext" => {
                Some(call("dcngettext", vec![Number(0), Given(0), Given(1), Given(2), LC_MESSAGES], Meaning::Same))
            }
            "dngettext" => {
                Some(call("dcngettext", vec![Given(0), Given(1), Given(2), Given(3), LC_MESSAGES], Meaning::Same))
            }
            _ => None,
        }
    }

    /// The value of a pure function whose arguments are all known. Results that are defined in sign only come
    /// as -1, 0 or 1.
    fn value_of_literals(&self, row: &Contract) -> Option<Meaning> {
        let Effect::Pure { reads_memory, .. } = row.effect else { return None };
        let pointers = row.arguments.contains(&Class::Pointer);
        // The locale is not known here; a float is not a number.
        if (reads_memory && !pointers) || row.name.contains("case") {
            return None;
        }
        let mut texts = Vec::new();
        let mut arguments = Vec::new();
        for i in 0..row.arguments.len() {
            match (self.known)(i)? {
                Known::Number(value) => arguments.push(value),
                Known::Text(mut text) => {
                    text.push(0);
                    arguments.push(base_of(i));
                    texts.push((i, text));
                }
            }
        }
        let mut read = |address: u64| {
            let in_text = |(i, text): &(usize, Vec<u8>)| {
                text.get(usize::try_from(address.wrapping_sub(base_of(*i))).ok()?).copied()
            };
            texts.iter().find_map(in_text)
        };
        let result = eval_pure(row.name, &arguments, &mut read)?;
        if row.result != Class::Pointer || result == 0 {
            return Some(Meaning::Value(Argument::Number(result)));
        }
        let (i, _) = texts.iter().find(|(i, text)| result.wrapping_sub(base_of(*i)) <= text.len() as u64)?;
        Some(Meaning::Sum(Argument::Given(*i), Argument::Number(result.wrapping_sub(base_of(*i)))))
    }
}

/// A made-up address for the literal at argument `i`, far from the others.
fn base_of(i: usize) -> u64 {
    (i as u64 + 1) << 40
}

fn call(callee: &'static str, arguments: Vec<Argument>, result: Meaning) -> Renaming {
    Renaming { action: Action::Call { callee, arguments }, result }
}

fn nothing(value: Argument) -> Renaming {
    Renaming { action: Action::Nothing, result: Meaning::Value(value) }
}

/// Writes a text to a stream, result lost.
fn write(stream: Argument, text: Vec<u8>) -> Renaming {
    match text.as_slice() {
        [] => Renaming { action: Action::Nothing, result: Meaning::Lost },
        [byte] => call("fputc", vec![Argument::Number(u64::from(*byte)), stream], Meaning::Lost),
        _ => {
            let length = Argument::Number(text.len() as u64);
            call("fwrite", vec![Argument::Text(text), Argument::Number(1), length, stream], Meaning::Lost)
        }
    }
}

/// `memcpy(to, bytes, length)`.
fn copy_text(to: Argument, bytes: Vec<u8>, result: Meaning) -> Renaming {
    let length = Argument::Number(bytes.len() as u64);
    call("memcpy", vec![to, Argument::Text(bytes), length], result)
}

fn terminated(mut text: Vec<u8>) -> Vec<u8> {
    text.push(0);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contracts;

    /// Parses `"text"`, a number, or `_` for an unknown argument.
    fn argument(text: &str) -> Option<Known> {
        let unquoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        match unquoted {
            Some(literal) => Some(Known::Text(literal.replace("\\n", "\n").into_bytes())),
            None if text == "_" => None,
            None => Some(Known::Number(text.parse::<i64>().expect(text) as u64)),
        }
    }

    fn show(argument: &Argument) -> String {
        let escaped = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\n', "\\n").replace('\0', "\\0");
        match argument {
            Argument::Given(i) => format!("${i}"),
            Argument::LowByte(i) => format!("low(${i})"),
            Argument::ByteAt(i) => format!("*${i}"),
            Argument::End(i) => format!("end(${i})"),
            Argument::Text(bytes) => format!("\"{}\"", escaped(bytes)),
            Argument::Number(n) => format!("{}", *n as i64),
            Argument::Stream(name) => name.to_string(),
        }
    }

    /// The form of a call such as `puts("x")` as text; `-` if it has none.
    fn form(written: &str, result: ResultUse) -> String {
        let (callee, rest) = written.split_once('(').expect("a call");
        let arguments: Vec<&str> = rest.strip_suffix(')').expect("a call").split(", ").collect();
        let known = |i: usize| arguments.get(i).filter(|a| !a.is_empty()).and_then(|a| argument(a));
        let Some(renaming) = rename(callee, &known, result) else { return "-".to_string() };
        let action = match &renaming.action {
            Action::Nothing => "nothing".to_string(),
            Action::Call { callee, arguments } => {
                format!("{callee}({})", arguments.iter().map(show).collect::<Vec<_>>().join(", "))
            }
        };
        match &renaming.result {
            Meaning::Same => format!("{action} -> same"),
            Meaning::Low(bytes) => format!("{action} -> low {bytes}"),
            Meaning::ZeroTest => format!("{action} -> zero test"),
            Meaning::Value(value) => format!("{action} -> {}", show(value)),
            Meaning::Sum(a, b) => format!("{action} -> {} + {}", show(a), show(b)),
            Meaning::EndOfFirst => format!("{action} -> end of $0"),
            Meaning::Lost => action,
        }
    }

    /// All calls have this form when their result is unused.
    fn all_become(expected: &str, written: &[&str]) {
        for call in written {
            assert_eq!(form(call, ResultUse::Unused), expected, "{call}");
        }
    }

    #[test]
    fn text_to_standard_output() {
        all_become(
            r#"fwrite("x\n", 1, 2, stdout)"#,
            &[
                r#"printf("x\n")"#,
                r#"puts("x")"#,
                r#"printf("%s\n", "x")"#,
                r#"__printf_chk(1, "x\n")"#,
                r#"printf("x%c", 10)"#,
            ],
        );
        all_become("fputc(10, stdout)", &[r#"printf("\n")"#, r#"puts("")"#, r#"printf("%c", 10)"#]);
        all_become("fputc(120, stdout) -> same", &["putchar(120)", "putchar(376)"]);
        all_become("fputc(low($0), stdout) -> same", &["putchar(_)"]);
        all_become("fputc(low($1), stdout)", &[r#"printf("%c", _)"#]);
        all_become("puts($1)", &[r#"printf("%s\n", _)"#]);
        all_become("fputs($1, stdout)", &[r#"printf("%s", _)"#]);
        all_become("nothing -> 0", &[r#"printf("")"#]);
        all_become("-", &["puts(_)", r#"printf("%d", 1)"#, "printf(_)", r#"printf("%s: ", _)"#]);
    }

    #[test]
    fn text_to_a_stream() {
        all_become(r#"fwrite("ab", 1, 2, $0)"#, &[r#"fprintf(_, "ab")"#, r#"__fprintf_chk(_, 1, "ab")"#]);
        all_become(r#"fwrite("ab", 1, 2, $1)"#, &[r#"fputs("ab", _)"#]);
        all_become(r#"fwrite("ab", 1, 2, $3)"#, &[r#"fwrite("abc", 1, 2, _)"#, r#"fwrite("ab", 2, 1, _)"#]);
        all_become("fputc(*$0, $3)", &["fwrite(_, 1, 1, _)"]);
        all_become("fputc(97, $1)", &[r#"fputs("a", _)"#]);
        all_become("fputs($2, $0)", &[r#"fprintf(_, "%s", _)"#]);
        all_become("nothing", &[r#"fputs("", _)"#]);
        all_become("nothing -> 0", &["fwrite(_, 0, 8, _)", "fwrite(_, 1, 0, _)"]);
        all_become("-", &["fputs(_, _)", "fwrite(_, 1, 2, _)", r#"fwrite("ab", 1, 9, _)"#, r#"fprintf(_, "%s\n", _)"#]);
    }

    #[test]
    fn a_lost_result_must_not_be_used() {
        for call in [r#"printf("x\n")"#, r#"puts("x")"#, r#"fputs("ab", _)"#, r#"fwrite("ab", 1, 2, _)"#] {
            assert_eq!(form(call, ResultUse::Used), "-", "{call}");
            assert_ne!(form(call, ResultUse::Unused), "-", "{call}");
        }
        assert_eq!(form("putchar(_)", ResultUse::Used), "fputc(low($0), stdout) -> same");
        assert_eq!(form("bzero(_, _)", ResultUse::Used), "memset($0, 0, $1)");
        assert_eq!(form(r#"sprintf(_, "ab")"#, ResultUse::Used), r#"memcpy($0, "ab\0", 3) -> 2"#);
    }

    #[test]
    fn literals_into_memory() {
        all_become(
            r#"memcpy($0, "ab\0", 3) -> same"#,
            &[r#"strcpy(_, "ab")"#, r#"strncpy(_, "ab", 3)"#, r#"__strcpy_chk(_, "ab", 3)"#],
        );
        all_become(
            r#"memcpy($0, "ab\0", 3) -> 2"#,
            &[r#"sprintf(_, "ab")"#, r#"snprintf(_, 8, "%s", "ab")"#, r#"__sprintf_chk(_, 1, 3, "ab")"#],
        );
        all_become(r#"memcpy($0, "a\0", 2) -> 2"#, &[r#"snprintf(_, 2, "ab")"#]);
        all_become("nothing -> 2", &[r#"snprintf(_, 0, "ab")"#]);
        all_become(r#"memcpy($0, "ab", 2) -> same"#, &[r#"strncpy(_, "abc", 2)"#]);
        all_become(r#"memcpy($0, "a\0\0\0", 4) -> same"#, &[r#"strncpy(_, "a", 4)"#]);
        all_become(r#"memcpy($0, "ab\0", 3) -> $0 + 2"#, &[r#"stpcpy(_, "ab")"#]);
        all_become(r#"memcpy(end($0), "ab\0", 3) -> $0"#, &[r#"strcat(_, "ab")"#, r#"strncat(_, "abc", 2)"#]);
        all_become("strcpy($0, $1) -> end of $0", &["stpcpy(_, _)", "__stpcpy_chk(_, _, -1)"]);
        all_become("strcpy($0, $2)", &[r#"sprintf(_, "%s", _)"#]);
        all_become("nothing -> $0", &[r#"strcat(_, "")"#, r#"strncpy(_, "a", 0)"#]);
        all_become(
            "-",
            &[
                "strcpy(_, _)",
                r#"__strcpy_chk(_, "ab", 2)"#,
                r#"__sprintf_chk(_, 1, 2, "ab")"#,
                r#"snprintf(_, _, "ab")"#,
            ],
        );
    }

    #[test]
    fn blocks_of_memory() {
        all_become("memcpy($0, $1, $2) -> $0 + $2", &["mempcpy(_, _, _)", "__mempcpy_chk(_, _, 4, 4)"]);
        all_become("memcpy($0, $1, $2) -> same", &["__memcpy_chk(_, _, 4, 8)", "__memcpy_chk(_, _, _, -1)"]);
        all_become("memmove($1, $0, $2)", &["bcopy(_, _, _)"]);
        all_become("memcmp($0, $1, $2) -> zero test", &["bcmp(_, _, _)"]);
        all_become("malloc($1) -> same", &["realloc(0, _)"]);
        all_become("nothing", &["free(0)"]);
        all_become("-", &["__memcpy_chk(_, _, 9, 8)", "__memcpy_chk(_, _, _, 8)", "free(_)", "memcpy(_, _, _)"]);
    }

    #[test]
    fn pure_functions() {
        all_become("nothing -> 3", &[r#"strlen("abc")"#, r#"strspn("aab", "ba")"#]);
        all_become("nothing -> end($0)", &["strchr(_, 0)", "rindex(_, 256)"]);
        all_become("nothing -> $0 + 1", &[r#"strchr("abc", 98)"#, r#"strstr("abc", "bc")"#]);
        all_become("nothing -> 0", &[r#"strchr("abc", 120)"#, r#"strcmp("a", "a")"#]);
        all_become("memchr($0, $1, 4) -> same", &[r#"strchr("abc", _)"#]);
        all_become("nothing -> 7", &["abs(-7)"]);
        all_become("strtol($0, 0, 10) -> low 4", &["atoi(_)"]);
        all_become("dcgettext(0, $0, 5) -> same", &["gettext(_)"]);
        all_become("dcgettext($0, $1, 5) -> same", &["dgettext(_, _)"]);
        all_become("dcngettext(0, $0, $1, $2, 5) -> same", &["ngettext(_, _, _)"]);
        all_become("dcngettext($0, $1, $2, $3, 5) -> same", &["dngettext(_, _, _, _)"]);
        all_become(
            "-",
            &["strlen(_)", "isalpha(65)", r#"strcasecmp("a", "A")"#, r#"memchr("ab", 120, 9)"#, "no_such_function(1)"],
        );
    }

    /// A form is the form of itself, and a call that its callee's contract allows.
    #[test]
    fn forms_are_final() {
        let known_sets: [&dyn Fn(usize) -> Option<Known>; 4] = [
            &|_| None,
            &|_| Some(Known::Number(0)),
            &|i| [None, Some(Known::Text(b"%s\n".to_vec())), Some(Known::Number(2)), None][i.min(3)].clone(),
            &|_| Some(Known::Text(b"ab".to_vec())),
        ];
        for row in contracts() {
            for known in known_sets {
                let Some(renaming) = rename(row.name, known, ResultUse::Unused) else { continue };
                let Action::Call { callee, arguments } = &renaming.action else { continue };
                let target = contract(callee).expect(callee);
                assert_eq!(arguments.len(), target.arguments.len(), "{} -> {callee}", row.name);
                let inner = |i: usize| match arguments.get(i)? {
                    Argument::Given(i) => known(*i),
                    Argument::Text(bytes) => Some(Known::Text(bytes.split(|b| *b == 0).next()?.to_vec())),
                    Argument::Number(n) => Some(Known::Number(*n)),
                    _ => None,
                };
                let again = rename(callee, &inner, ResultUse::Unused);
                let next = again.as_ref().map(|r| &r.action);
                let stable = match next {
                    None => true,
                    Some(Action::Call { callee: next, .. }) => next == callee,
                    Some(Action::Nothing) => false,
                };
                assert!(stable, "{} -> {callee} -> {next:?}", row.name);
            }
        }
    }
}
