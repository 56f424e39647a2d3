//! Calls of library functions: those whose effect is known are carried out, the rest are events.
//!
//! Compilers replace many of these calls by others or by code. So what is known is computed rather than made up, and
//! output is noted in its general form.

use super::callee::CalleeInfo;
use super::calls::{Answer, Special};
use super::cells::Tracking;
use super::ctype;
use super::machine::{Machine, cell_of};
use super::memory::{LARGEST_ALLOCATION, THREAD_LOCAL, is_stack};
use super::trace::{End, Form, FormArgument, SetUp, Target, Write};
use super::values::{plausible_word, text_key};
use library::{Action, Argument, Contract, Effect, Known, Meaning, ResultUse};
use program::{Place, Register, Value};
use std::rc::Rc;

/// Longest block that is copied or filled, longest string.
const LONGEST: u64 = 1 << 14;

/// A result in `rax` of this many bytes.
fn general(value: u64, bytes: u16) -> Answer {
    [Some((value, bytes)), None, None, None]
}

impl<'a> Machine<'_, '_, 'a> {
    /// Without an optimiser the arguments of a call are written right before it. Where they are not, it is another function that
    /// only has the name.
    fn check_set_up(&mut self, contract: &Contract) {
        if !self.program.function.is_unoptimised() {
            return;
        }
        let set_up = self.set_up();
        let unset = |value: &Value| {
            let position = Register::ARGUMENTS.iter().position(|r| value.place == Place::Register(*r));
            position.is_some_and(|i| !matches!(set_up[i], SetUp::Written(_)))
        };
        if contract.signature().arguments.iter().any(unset) {
            self.doubt("a call that sets up no arguments");
        }
    }

    /// Carries out a library call; `None` if the callee is not one, or one like any other.
    pub fn library_call(&mut self, info: &Rc<CalleeInfo<'a>>) -> Result<Option<Answer>, End> {
        let Some(contract) = info.library else { return Ok(None) };
        if contract.unsupported.is_some() {
            return Err(End::Unsupported);
        }
        if self.tracking == Tracking::On {
            self.check_set_up(contract);
            for i in contract.nonnull {
                if self.argument(*i) == 0 {
                    return Err(self.reject(|| format!("null argument of {}", contract.name)));
                }
            }
        }
        let [a, b, c] = [0, 1, 2].map(|i| self.argument(i));
        let answer = match contract.effect {
            Effect::CopyMemory => {
                if contract.forbids_overlap() && a != b {
                    self.apart(contract, (a, c), (b, c))?;
                }
                self.copy(a, b, c)?;
                general(a, 8)
            }
            Effect::FillMemory => {
                self.fill(a, b as u8, c)?;
                general(a, 8)
            }
            // In a linked file: of which variable it is, and what that holds at first, only the loader knows.
            Effect::ReadsThreadLocalAddress if contract.name == "__tls_get_addr" => match self.tracking {
                Tracking::On => {
                    self.doubt("a thread-local variable of a linked file");
                    general(THREAD_LOCAL + text_key(contract.name) % 64 * 0x1000 + 0x800 + a % 64 * 0x40, 8)
                }
                Tracking::Off => return Err(End::Unsupported),
            },
            Effect::ReadsThreadLocalAddress => {
                let place = text_key(contract.name) % 64 * 0x1000 + 0x800;
                let argument = if contract.arguments.is_empty() { 0 } else { a % 64 * 0x40 };
                general(ctype::location(contract.name).unwrap_or(THREAD_LOCAL + place + argument), 8)
            }
            Effect::Pure { sign_only, .. } => self.pure(info, contract, sign_only)?,
            Effect::Allocate => self.allocation(info, contract)?,
            Effect::Event => return self.known_event(info, contract),
        };
        Ok(Some(answer))
    }

    fn known_event(&mut self, info: &Rc<CalleeInfo<'a>>, contract: &'static Contract) -> Result<Option<Answer>, End> {
        let [a, b, c] = [0, 1, 2].map(|i| self.argument(i));
        let name = contract.name.trim_start_matches("__").trim_end_matches("_chk");
        let answer = match name {
            "strcpy" | "stpcpy" => {
                let text = self.text(b)?;
                let length = text.len() as u64 + 1;
                self.checked(contract, 2, length)?;
                self.apart(contract, (a, length), (b, length))?;
                self.copy_text(a, &text)?;
                general(if name == "strcpy" { a } else { a.wrapping_add(text.len() as u64) }, 8)
            }
            "strcat" | "strncat" => {
                let (end, mut text) = (self.text(a)?.len() as u64, self.text(b)?);
                if name == "strncat" {
                    text.truncate(usize::try_from(c).unwrap_or(usize::MAX));
                }
                let length = end + text.len() as u64 + 1;
                self.checked(contract, if name == "strcat" { 2 } else { 3 }, length)?;
                self.apart(contract, (a, length), (b, text.len() as u64 + 1))?;
                self.copy_text(a.wrapping_add(end), &text)?;
                general(a, 8)
            }
            "strncpy" if c <= LONGEST => {
                self.checked(contract, 3, c)?;
                let mut text = self.text_up_to(b, c)?;
                self.apart(contract, (a, c), (b, c.min(text.len() as u64 + 1)))?;
                text.resize(c as usize, 0);
                self.put(a, &text)?;
                general(a, 8)
            }
            "mempcpy" | "memcpy" | "memmove" => {
                self.checked(contract, 3, c)?;
                if name != "memmove" && a != b {
                    self.apart(contract, (a, c), (b, c))?;
                }
                self.copy(a, b, c)?;
                general(if name == "mempcpy" { a.wrapping_add(c) } else { a }, 8)
            }
            "memset" => {
                self.checked(contract, 3, c)?;
                self.fill(a, b as u8, c)?;
                general(a, 8)
            }
            "bzero" | "explicit_bzero" => {
                self.fill(a, 0, b)?;
                [None; 4]
            }
            "bcopy" => {
                self.copy(b, a, c)?;
                [None; 4]
            }
            "sqrt" | "sqrtf" => match self.square_root(name) {
                Some(answer) => answer,
                None => return Ok(None),
            },
            "free" => {
                if a == 0 {
                    return Ok(Some([None; 4]));
                }
                if self.tracking == Tracking::On && self.memory.is_freed(a) {
                    return Err(self.reject(|| "freed twice".to_string()));
                }
                self.memory.free(a);
                self.event(info, Special::answered([None; 4]))?
            }
            "realloc" => {
                self.defined_arguments(contract)?;
                self.reallocation(info, a, b)?
            }
            _ => return self.renamed(info, contract),
        };
        Ok(Some(answer))
    }

    /// A checked function whose check fails ends the program.
    fn checked(&mut self, contract: &Contract, size: usize, needed: u64) -> Result<(), End> {
        if contract.name.ends_with("_chk") && needed > self.argument(size) {
            return Err(self.reject(|| format!("check of {} fails", contract.name)));
        }
        Ok(())
    }

    /// Copies between objects that overlap are undefined. Each is an address and a length.
    fn apart(&mut self, contract: &Contract, to: (u64, u64), from: (u64, u64)) -> Result<(), End> {
        let meet = to.1 > 0 && from.1 > 0 && (from.0.wrapping_sub(to.0) < to.1 || to.0.wrapping_sub(from.0) < from.1);
        if meet && self.tracking == Tracking::On {
            return Err(self.reject(|| format!("overlapping operands of {}", contract.name)));
        }
        Ok(())
    }

    /// Output and the like, in general form.
    fn renamed(&mut self, info: &Rc<CalleeInfo<'a>>, contract: &'static Contract) -> Result<Option<Answer>, End> {
        let layout = self.situation.start.layout;
        let values: Vec<u64> = (0..6).map(|i| self.argument(i)).collect();
        let known = |i: usize| {
            let value = *values.get(i)?;
            Some(layout.text_at(value).map_or(Known::Number(value), Known::Text))
        };
        let Some(renaming) = library::rename(contract.name, &known, ResultUse::Unused) else { return Ok(None) };
        let (callee, arguments) = match &renaming.action {
            Action::Nothing => return Ok(Some(self.meaning(&renaming.result, &values))),
            Action::Call { callee, arguments } => (*callee, arguments.clone()),
        };
        let mut resolved = Vec::new();
        for argument in &arguments {
            resolved.push(self.form_argument(argument, &values)?);
        }
        let to = match resolved.first() {
            Some(FormArgument::Word(to)) => *to,
            _ => 0,
        };
        match (callee, resolved.get(1)) {
            ("memcpy", Some(FormArgument::Text(text))) => {
                let text = text.clone();
                self.put(to, &text)?;
                Ok(Some(self.meaning(&renaming.result, &values)))
            }
            ("strcpy", Some(FormArgument::Word(from))) => {
                let text = self.text(*from)?;
                let length = text.len() as u64 + 1;
                self.apart(contract, (to, length), (*from, length))?;
                self.copy_text(to, &text)?;
                Ok(Some(self.meaning(&renaming.result, &values)))
            }
            // What is pure or silent on its own is so under another name.
            ("memcpy" | "memset" | "memmove" | "strcpy" | "memcmp" | "memchr" | "malloc", _) => Ok(None),
            _ => {
                let shared = matches!(renaming.result, Meaning::Same | Meaning::Low(_));
                let form = Some(Form { callee, arguments: resolved });
                let special = Special { form, result_of: shared.then_some(callee), ..Special::default() };
                self.event(info, special).map(Some)
            }
        }
    }

    fn form_argument(&mut self, argument: &Argument, values: &[u64]) -> Result<FormArgument, End> {
        let layout = self.situation.start.layout;
        let given = |i: usize| values.get(i).copied().unwrap_or(0);
        Ok(match argument {
            Argument::Given(i) => match layout.text_at(given(*i)) {
                Some(text) => FormArgument::Text(text),
                None => FormArgument::Word(layout.translate(given(*i))),
            },
            Argument::LowByte(i) => FormArgument::Word(given(*i) & 0xff),
            Argument::ByteAt(i) => {
                let at = self.access(given(*i), 1, self.origin_of(given(*i)), false)?;
                let mut byte = [0];
                self.memory.read(&self.situation.start, at, &mut byte);
                FormArgument::Word(u64::from(byte[0]))
            }
            Argument::End(i) => FormArgument::Word(given(*i).wrapping_add(self.text(given(*i))?.len() as u64)),
            Argument::Text(text) => FormArgument::Text(text.clone()),
            Argument::Number(value) => FormArgument::Word(*value),
            Argument::Stream(name) => {
                let object = layout.objects().iter().find(|p| p.object.name == *name).map(|p| p.start);
                let mut word = text_key(name).to_le_bytes();
                if let Some(at) = object {
                    self.memory.read(&self.situation.start, at, &mut word);
                }
                FormArgument::Word(u64::from_le_bytes(word))
            }
        })
    }

    fn meaning(&mut self, meaning: &Meaning, values: &[u64]) -> Answer {
        let value = |argument: &Argument| match argument {
            Argument::Given(i) => values.get(*i).copied(),
            Argument::Number(value) => Some(*value),
            _ => None,
        };
        match meaning {
            Meaning::Value(argument) => value(argument).map_or([None; 4], |v| general(v, 8)),
            Meaning::Sum(a, b) => match (value(a), value(b)) {
                (Some(a), Some(b)) => general(a.wrapping_add(b), 8),
                _ => [None; 4],
            },
            Meaning::Same | Meaning::Low(_) | Meaning::ZeroTest | Meaning::EndOfFirst | Meaning::Lost => [None; 4],
        }
    }

    fn pure(&mut self, info: &CalleeInfo<'a>, contract: &Contract, sign_only: bool) -> Result<Answer, End> {
        let signature = contract.signature();
        let mut arguments = Vec::new();
        for passed in &signature.arguments {
            let Place::Register(register) = passed.place else { return Err(End::Unsupported) };
            let held = self.register(register);
            arguments.push(if passed.bytes < 8 { held & ((1 << (8 * passed.bytes)) - 1) } else { held });
        }
        let mut touched = Vec::new();
        let (memory, start) = (&mut *self.memory, &self.situation.start);
        let mut undefined = false;
        let mut read = |address: u64| {
            if touched.len() as u64 > LONGEST {
                return None;
            }
            let at = start.layout.translate(address);
            let mut byte = [0];
            undefined |= memory.read(start, at, &mut byte) != 0;
            touched.push(address);
            Some(byte[0])
        };
        let value = library::eval_pure(contract.name, &arguments, &mut read);
        let too_long = touched.len() as u64 > LONGEST;
        if undefined && self.tracking == Tracking::On {
            return Err(self.reject(|| format!("{} of something that nobody defined", contract.name)));
        }
        for address in touched {
            self.access(address, 1, self.origin_of(address), false)?;
        }
        if too_long || signature.results.len() > 1 {
            return Err(End::Unsupported);
        }
        let result = signature.results[0];
        let mut value = value.unwrap_or_else(|| {
            let key =
                arguments.iter().fold(text_key(contract.name), |key, a| self.situation.start.seed.split(key).mix(*a));
            self.made_up.push(key);
            plausible_word(self.situation.start.seed.mix(key), self.situation.start.constants)
        });
        if sign_only && value as u32 != 0 {
            self.sign_only = true;
            let magnitude = self.situation.magnitude;
            value = if (value as i32) < 0 { magnitude.wrapping_neg() } else { magnitude };
        }
        let boolean = info.signature.as_ref().and_then(|s| s.results.first()).is_some_and(|r| r.boolean);
        let value = if boolean { value & 1 } else { value };
        Ok(match result.place {
            Place::Register(Register::Vector(_)) => [None, None, Some((value, result.bytes)), None],
            _ => general(value, result.bytes),
        })
    }

    fn square_root(&mut self, name: &str) -> Option<Answer> {
        let held = self.register(Register::Vector(0));
        let (value, bytes) = if name == "sqrt" {
            let x = f64::from_bits(held);
            (x >= 0.0).then(|| (x.sqrt().to_bits(), 8))?
        } else {
            let x = f32::from_bits(held as u32);
            (x >= 0.0).then(|| (u64::from(x.sqrt().to_bits()), 4))?
        };
        Some([None, None, Some((value, bytes)), None])
    }

    /// A function whose result is computed here needs arguments that somebody defined.
    fn defined_arguments(&mut self, contract: &Contract) -> Result<(), End> {
        let tainted = |value: &Value| match value.place {
            Place::Register(register) => {
                let taint = self.cells.shadow(cell_of(register)).taint;
                taint & ((1 << value.bytes.min(63)) - 1) != 0
            }
            Place::Stack(_) => false,
        };
        if self.tracking == Tracking::On && contract.signature().arguments.iter().any(tainted) {
            return Err(self.reject(|| format!("undefined argument of {}", contract.name)));
        }
        Ok(())
    }

    fn allocation(&mut self, info: &Rc<CalleeInfo<'a>>, contract: &Contract) -> Result<Answer, End> {
        self.defined_arguments(contract)?;
        let [a, b] = [0, 1].map(|i| self.argument(i));
        let mut text = Vec::new();
        let size = match contract.name {
            "calloc" => a.checked_mul(b),
            "aligned_alloc" | "memalign" => Some(b),
            "strdup" | "strndup" => {
                text = if contract.name == "strdup" { self.text(a)? } else { self.text_up_to(a, b)? };
                Some(text.len() as u64 + 1)
            }
            "malloc" | "valloc" => Some(a),
            _ => return Err(End::Unsupported),
        };
        let number = self.calls.len() as u64;
        let fails = self.situation.start.seed.split(0x00a1_10c8).mix(number).is_multiple_of(6);
        let size = size.filter(|n| *n <= LARGEST_ALLOCATION && !fails);
        let address = size.map_or(0, |size| self.memory.allocate(size, contract.name == "calloc"));
        let answer = self.event(info, Special::answered(general(address, 8)))?;
        if address != 0 && contract.name.starts_with("str") {
            text.push(0);
            self.memory.write(&self.situation.start, address, &text, 0);
        }
        Ok(answer)
    }

    fn reallocation(&mut self, info: &Rc<CalleeInfo<'a>>, old: u64, size: u64) -> Result<Answer, End> {
        let number = self.calls.len() as u64;
        let fails = self.situation.start.seed.split(0x00a1_10c8).mix(number).is_multiple_of(6);
        if fails || size > LARGEST_ALLOCATION {
            return self.event(info, Special::answered(general(0, 8)));
        }
        let had = if old == 0 { 0 } else { self.memory.allocation_at(old).map_or(256, |a| a.size) };
        let mut data = vec![0; had.min(size).min(LONGEST) as usize];
        let mut taints = Vec::new();
        for (i, chunk) in data.chunks_mut(32).enumerate() {
            taints.push(self.memory.read(&self.situation.start, old + 32 * i as u64, chunk));
        }
        let new = self.memory.allocate(size, false);
        let answer = self.event(info, Special::answered(general(new, 8)))?;
        for (i, (chunk, taint)) in data.chunks(32).zip(taints).enumerate() {
            self.memory.write(&self.situation.start, new + 32 * i as u64, chunk, taint);
        }
        self.memory.free(old);
        Ok(answer)
    }

    /// Addresses that library functions are given are not followed to their object: only the region is checked.
    fn origin_of(&self, address: u64) -> super::cells::Origin {
        if is_stack(address) { super::cells::Origin::Slot } else { super::cells::Origin::None }
    }

    fn text(&mut self, address: u64) -> Result<Vec<u8>, End> {
        self.text_up_to(address, u64::MAX)
    }

    fn text_up_to(&mut self, address: u64, limit: u64) -> Result<Vec<u8>, End> {
        let mut out = Vec::new();
        while (out.len() as u64) < limit {
            let next = address.wrapping_add(out.len() as u64);
            let at = self.access(next, 1, self.origin_of(next), false)?;
            let mut byte = [0];
            let taint = self.memory.read(&self.situation.start, at, &mut byte);
            if taint != 0 && self.tracking == Tracking::On {
                return Err(self.reject(|| "text that nobody defined".to_string()));
            }
            if byte[0] == 0 {
                break;
            }
            out.push(byte[0]);
            if out.len() as u64 > LONGEST {
                return Err(End::Fuel);
            }
        }
        Ok(out)
    }

    fn copy_text(&mut self, to: u64, text: &[u8]) -> Result<(), End> {
        let mut bytes = text.to_vec();
        bytes.push(0);
        self.put(to, &bytes)
    }

    fn put(&mut self, to: u64, bytes: &[u8]) -> Result<(), End> {
        for (i, byte) in bytes.iter().enumerate() {
            let next = to.wrapping_add(i as u64);
            let at = self.access(next, 1, self.origin_of(next), true)?;
            self.memory.write(&self.situation.start, at, &[*byte], 0);
        }
        Ok(())
    }

    fn copy(&mut self, to: u64, from: u64, n: u64) -> Result<(), End> {
        if n > LONGEST {
            return Err(End::Fuel);
        }
        let mut data = Vec::with_capacity(n as usize);
        for i in 0..n {
            let next = from.wrapping_add(i);
            let at = self.access(next, 1, self.origin_of(next), false)?;
            let mut byte = [0];
            let taint = self.memory.read(&self.situation.start, at, &mut byte);
            data.push((byte, taint));
        }
        for (i, (byte, taint)) in data.into_iter().enumerate() {
            let next = to.wrapping_add(i as u64);
            let at = self.access(next, 1, self.origin_of(next), true)?;
            self.memory.write(&self.situation.start, at, &byte, taint);
        }
        Ok(())
    }

    fn fill(&mut self, to: u64, byte: u8, n: u64) -> Result<(), End> {
        if n > LONGEST {
            return Err(End::Fuel);
        }
        self.put(to, &vec![byte; n as usize])
    }

    /// What a library function writes through the pointers that it is given for that.
    pub fn library_writes(
        &mut self,
        info: &CalleeInfo<'a>,
        number: usize,
        bytes: &dyn Fn(u64, u64) -> Vec<u8>,
    ) -> Vec<Write> {
        let Some(contract) = info.library else { return Vec::new() };
        let first = self.passed.len() - self.calls[number].pointed.len();
        let mut out = Vec::new();
        for (argument, limit) in outputs(contract) {
            let address = self.argument(argument);
            let most = limit.map_or(u64::MAX, |i| self.argument(i));
            let passed = self.calls[number].pointed.iter().position(|p| p.argument == argument);
            let (target, room) = match passed {
                Some(i) => (Target::Passed(first + i, 0), self.passed[first + i].room),
                None if self.is_writable(address) => (Target::World(address), 8),
                None => continue,
            };
            let n = room.min(most).min(512);
            if n > 0 {
                out.push(Write { target, bytes: bytes(argument as u64, n) });
            }
        }
        out
    }
}

/// Arguments through which a library function writes, with the argument that bounds the length.
fn outputs(contract: &Contract) -> Vec<(usize, Option<usize>)> {
    let name = contract
        .name
        .trim_start_matches("__")
        .trim_end_matches("_chk")
        .trim_end_matches("64")
        .trim_end_matches("_unlocked");
    let name = name.trim_start_matches("isoc99_").trim_start_matches("isoc23_");
    match name {
        "scanf" | "fscanf" | "sscanf" => (contract.arguments.len()..6).map(|i| (i, None)).collect(),
        "fgets" | "snprintf" | "vsnprintf" | "strftime" | "getcwd" | "gethostname" => vec![(0, Some(1))],
        "fread" => vec![(0, Some(2))],
        "read" | "pread" | "recv" | "recvfrom" | "readlink" => vec![(1, Some(2))],
        "sprintf" | "vsprintf" | "gettimeofday" | "time" | "frexp" | "frexpf" | "modf" | "modff" | "pipe" | "wait"
        | "uname" | "pthread_create" | "sigemptyset" | "sigfillset" | "qsort" | "mbrtowc" | "remquo" | "asprintf"
        | "vasprintf" => {
            vec![(0, None)]
        }
        "sincos" | "sincosf" | "getline" => vec![(0, None), (1, None)],
        "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod" | "strtof" | "clock_gettime" | "stat" | "fstat"
        | "lstat" | "localtime_r" | "gmtime_r" | "waitpid" | "getrlimit" | "getrusage" | "nanosleep" => vec![(1, None)],
        "sigaction" | "sigprocmask" | "strtok_r" | "accept" => vec![(2, None)],
        _ => Vec::new(),
    }
}
