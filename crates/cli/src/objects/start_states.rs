//! The file of `--tests`: start states as JSON. `docs/tests-format.md` says what it holds.

use crate::status::Failure;
use search::{ABOVE_STACK, HIGHEST_ADDRESS, StartBytes, StartCall, StartPlace, StartState};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use term::Bits;

/// Largest file that is read.
const LARGEST: u64 = 1 << 26;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    tests: Vec<Test>,
    /// Where a recorder got them from; for readers.
    #[serde(default, rename = "recorded")]
    _recorded: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    function: Option<String>,
    #[serde(default)]
    registers: BTreeMap<String, Number>,
    #[serde(default)]
    memory: Vec<Bytes>,
    #[serde(default)]
    calls: Vec<Call>,
    seed: Option<u64>,
    /// A recorder could not follow the function to its end; for readers.
    #[serde(default, rename = "partial")]
    _partial: Option<String>,
}

/// A JSON number, or a string that holds a decimal or hexadecimal one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Signed(i64),
    Unsigned(u64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bytes {
    address: Option<Number>,
    object: Option<String>,
    bytes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    callee: String,
    result: Number,
    /// A witness lists them; they say nothing about the start state.
    #[serde(default, rename = "arguments")]
    _arguments: Vec<String>,
    #[serde(default)]
    writes: Vec<Bytes>,
}

/// Reads the file.
pub fn read(path: &Path) -> Result<Vec<StartState>, Failure> {
    let fail = |what: String| Failure(format!("{}: {what}", path.display()));
    let size = std::fs::metadata(path).map_err(|e| fail(e.to_string()))?.len();
    if size > LARGEST {
        return Err(fail(format!("larger than {LARGEST} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|e| fail(e.to_string()))?;
    parse(&text).map_err(fail)
}

fn parse(text: &str) -> Result<Vec<StartState>, String> {
    let file: File = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if file.version != 1 {
        return Err(format!("version {} is not known", file.version));
    }
    let tests = file.tests.into_iter().enumerate();
    tests.map(|(i, test)| start_state(test).map_err(|what| format!("test {}: {what}", i + 1))).collect()
}

fn start_state(test: Test) -> Result<StartState, String> {
    let named = |(name, number): (String, Number)| match value(&number) {
        Some(bits) => Ok((name, bits)),
        None => Err(format!("`{name}` is no number of at most 128 bits")),
    };
    Ok(StartState {
        function: test.function,
        registers: test.registers.into_iter().map(named).collect::<Result<_, _>>()?,
        memory: test.memory.into_iter().map(bytes).collect::<Result<_, _>>()?,
        calls: test.calls.into_iter().map(call).collect::<Result<_, _>>()?,
        seed: test.seed.unwrap_or(1),
    })
}

fn call(call: Call) -> Result<StartCall, String> {
    let result = value(&call.result).filter(|bits| bits.to_u64().is_some());
    let result = result.ok_or_else(|| format!("the result of `{}` is no number of at most 64 bits", call.callee))?;
    let writes = call.writes.into_iter().map(bytes).collect::<Result<_, _>>()?;
    Ok(StartCall { callee: call.callee, result: result.low(), writes })
}

fn bytes(bytes: Bytes) -> Result<StartBytes, String> {
    let address = || bytes.address.as_ref().and_then(value).and_then(|a| a.to_u64());
    let place = match (&bytes.object, &bytes.address) {
        (Some(object), None) => object_place(object),
        (Some(object), Some(_)) => match (object_place(object), address()) {
            (Some(StartPlace::Object(object, offset)), Some(address)) => {
                Some(StartPlace::Recorded { object, offset, address })
            }
            _ => None,
        },
        (None, Some(_)) => address().map(StartPlace::Address),
        (None, None) => return Err("memory without `address` or `object`".to_string()),
    };
    let place = place.ok_or("memory at no address")?;
    let content = hexadecimal(&bytes.bytes).ok_or_else(|| format!("`{}` are no bytes in hexadecimal", bytes.bytes))?;
    let end = |address: u64| address.saturating_add(content.len() as u64);
    if let StartPlace::Address(address) | StartPlace::Recorded { address, .. } = place
        && (address < 4096 || end(address) > HIGHEST_ADDRESS)
        && (address < ABOVE_STACK.start || end(address) > ABOVE_STACK.end)
    {
        return Err(format!("address {address:#x} is not between 0x1000 and {HIGHEST_ADDRESS:#x}"));
    }
    Ok(StartBytes { place, bytes: content })
}

/// `name` or `name+offset`, as witnesses print it.
fn object_place(text: &str) -> Option<StartPlace> {
    match text.rsplit_once('+') {
        Some((name, offset)) => Some(StartPlace::Object(name.to_string(), number(offset)?.to_u64()?)),
        None => Some(StartPlace::Object(text.to_string(), 0)),
    }
}

fn value(value: &Number) -> Option<Bits> {
    match value {
        Number::Signed(value) => Some(Bits::new(64, *value as u64).sext(128)),
        Number::Unsigned(value) => Some(Bits::new(128, *value)),
        Number::Text(text) => number(text),
    }
}

/// A decimal or hexadecimal number of at most 128 bits.
pub fn number(text: &str) -> Option<Bits> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok()?,
        None => match text.strip_prefix('-') {
            Some(digits) => digits.parse::<u128>().ok()?.wrapping_neg(),
            None => text.parse().ok()?,
        },
    };
    Some(Bits::from_limbs(128, &[value as u64, (value >> 64) as u64]))
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let plain = digits.iter().all(u8::is_ascii_hexdigit) && digits.len().is_multiple_of(2);
    if plain { digits.chunks(2).map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn parses_to(text: &str, expect: Expect) {
        let shown = match parse(text) {
            Ok(states) => states.iter().map(show).collect::<Vec<_>>().join("\n"),
            Err(what) => format!("error: {what}"),
        };
        expect.assert_eq(&shown);
    }

    fn show(state: &StartState) -> String {
        let function = state.function.as_deref().unwrap_or("*");
        let registers: Vec<String> = state.registers.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let memory: Vec<String> = state.memory.iter().map(|m| format!("{:x?}={:x?}", m.place, m.bytes)).collect();
        let calls: Vec<String> = state.calls.iter().map(|c| format!("{}()={:#x}", c.callee, c.result)).collect();
        format!("{function} [{}] [{}] [{}] {}", registers.join(" "), memory.join(" "), calls.join(" "), state.seed)
    }

    #[test]
    fn all_parts() {
        parses_to(
            r#"{"version":1,"tests":[{"function":"f","registers":{"n":-1,"rsi":"0x7000","xmm0":"0x3ff0000000000000"},
                "memory":[{"address":"0x7000","object":null,"bytes":"2a 00"},{"address":"0x5000","object":"g+0x8","bytes":"ff"}],
                "calls":[{"callee":"getc","arguments":["0x7000"],"result":"0xffffffff"}],"seed":9},{}]}"#,
            expect![[r#"
                f [n=0xffffffffffffffffffffffffffffffff rsi=0x7000 xmm0=0x3ff0000000000000] [Address(7000)=[2a, 0] Recorded { object: "g", offset: 8, address: 5000 }=[ff]] [getc()=0xffffffff] 9
                * [] [] [] 1"#]],
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("{", expect!["error: EOF while parsing an object at line 1 column 1"]),
            (r#"{"version":2,"tests":[]}"#, expect!["error: version 2 is not known"]),
            (
                r#"{"version":1,"tests":[{"registers":{"rdi":"x"}}]}"#,
                expect!["error: test 1: `rdi` is no number of at most 128 bits"],
            ),
            (
                r#"{"version":1,"tests":[{"memory":[{"address":4096,"bytes":"0"}]}]}"#,
                expect!["error: test 1: `0` are no bytes in hexadecimal"],
            ),
            (
                r#"{"version":1,"tests":[{"memory":[{"address":0,"bytes":"00"}]}]}"#,
                expect!["error: test 1: address 0x0 is not between 0x1000 and 0x7ffcfe000008"],
            ),
            (
                r#"{"version":1,"tests":[{"memory":[{"bytes":"00"}]}]}"#,
                expect!["error: test 1: memory without `address` or `object`"],
            ),
        ] {
            parses_to(text, said);
        }
    }
}
