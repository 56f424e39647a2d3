//! Claims as versioned JSON (docs/certificate-format.md).
//!
//! Blocks are named by their numbers in the text and locations by short words: `v5` is virtual register 5, `p0` physical
//! unit 0, `s3` spill slot 3; a lane adds its first bit and its width, as in `v5:0:64`. Anything larger is a list that
//! begins with its kind.

use super::{Claim, ClaimedPoint, Expression, VERSION};
use machine::{Commute, Function, LARGEST_NUMBER, Lane, Location, Names, Place};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// A claim about two functions, with their identity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocationCertificate {
    /// Name of the original.
    pub original: String,
    /// Name of the candidate.
    pub candidate: String,
    hashes: [String; 2],
    points: Vec<Value>,
}

/// Deepest nesting of an expression.
const DEEPEST: usize = 64;
/// The kind by which certificates of different checkers are told apart.
const KIND: &str = "regalloc";

/// Identity of a function: its text.
pub fn text_hash(function: &Function) -> String {
    Sha256::digest(function.source_text()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl AllocationCertificate {
    /// The certificate for a claim.
    pub fn new(claim: &Claim, original: &Function, candidate: &Function, names: &Names) -> AllocationCertificate {
        let number = |function: &Function, index: u32| function.blocks.get(index as usize).map_or(0, |b| b.number);
        let points = claim.points.iter().map(|point| {
            let mut map = Map::new();
            let blocks = [number(original, point.blocks.0), number(candidate, point.blocks.1)];
            map.insert("blocks".to_string(), json!(blocks));
            if let Some(order) = &point.order {
                map.insert("order".to_string(), json!(order));
            }
            let equations: Vec<Value> =
                point.equations.iter().map(|(a, b)| json!([write(a, names), write(b, names)])).collect();
            map.insert("equations".to_string(), Value::Array(equations));
            Value::Object(map)
        });
        AllocationCertificate {
            original: original.name.clone(),
            candidate: candidate.name.clone(),
            hashes: [text_hash(original), text_hash(candidate)],
            points: points.collect(),
        }
    }

    /// Text form.
    pub fn to_json(&self) -> String {
        let [original_hash, candidate_hash] = &self.hashes;
        let value = json!({
            "version": VERSION,
            "kind": KIND,
            "original": self.original,
            "candidate": self.candidate,
            "original_hash": original_hash,
            "candidate_hash": candidate_hash,
            "points": self.points,
        });
        value.to_string()
    }

    /// Reads the text form.
    pub fn from_json(text: &str) -> Result<AllocationCertificate, String> {
        let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let field = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_string);
        if field("kind").as_deref() != Some(KIND) {
            return Err("this is no certificate of a register allocation".to_string());
        }
        if value.get("version").and_then(Value::as_u64) != Some(u64::from(VERSION)) {
            return Err(format!("the version of the certificate is not {VERSION}"));
        }
        let missing = |key: &str| format!("the certificate has no `{key}`");
        let need = |key: &str| field(key).ok_or_else(|| missing(key));
        let points = value.get("points").and_then(Value::as_array).ok_or_else(|| missing("points"))?;
        Ok(AllocationCertificate {
            original: need("original")?,
            candidate: need("candidate")?,
            hashes: [need("original_hash")?, need("candidate_hash")?],
            points: points.clone(),
        })
    }

    /// The claim, if it is about these two functions.
    pub fn claim(&self, original: &Function, candidate: &Function, names: &mut Names) -> Result<Claim, String> {
        for (function, hash) in [original, candidate].into_iter().zip(&self.hashes) {
            if text_hash(function) != *hash {
                return Err(format!("the certificate is about another version of {}", function.name));
            }
        }
        let points = self.points.iter().map(|point| read_point(point, original, candidate, names));
        let points: Option<Vec<ClaimedPoint>> = points.collect();
        Ok(Claim { points: points.ok_or("a point of the certificate makes no sense")? })
    }
}

fn read_point(value: &Value, original: &Function, candidate: &Function, names: &mut Names) -> Option<ClaimedPoint> {
    let [ours, theirs] = value.get("blocks")?.as_array()?.as_slice() else { return None };
    let index = |function: &Function, value: &Value| function.block_index(u32::try_from(value.as_u64()?).ok()?);
    let blocks = (index(original, ours)?, index(candidate, theirs)?);
    let order = match value.get("order") {
        Some(list) => {
            let numbers = list.as_array()?.iter().map(|n| u32::try_from(n.as_u64()?).ok());
            Some(numbers.collect::<Option<Vec<u32>>>()?)
        }
        None => None,
    };
    let mut equations = Vec::new();
    for equation in value.get("equations")?.as_array()? {
        let [a, b] = equation.as_array()?.as_slice() else { return None };
        equations.push((read(a, names, 0)?, read(b, names, 0)?));
    }
    Some(ClaimedPoint { blocks, order, equations })
}

fn write(expression: &Expression, names: &Names) -> Value {
    let list = |all: &[Expression]| all.iter().map(|e| write(e, names)).collect::<Vec<Value>>();
    match expression {
        Expression::Lane(lane) => {
            let (letter, number) = match lane.location.place() {
                Place::Physical(n) => ('p', n),
                Place::Virtual(n) => ('v', n),
                Place::Slot(n) => ('s', n),
                Place::Temporary(n) => ('t', n),
            };
            json!(format!("{letter}{number}:{}:{}", lane.low, lane.bits))
        }
        Expression::Constant(value, bits) => json!(["constant", value, bits]),
        Expression::Symbol(symbol, bits) => json!(["symbol", names.text(*symbol), bits]),
        Expression::Extract(low, bits, of) => json!(["extract", low, bits, write(of, names)]),
        Expression::Concat(parts) => json!(["concat", list(parts)]),
        Expression::Linear(constant, bits, terms) => {
            let terms: Vec<Value> = terms.iter().map(|(factor, e)| json!([factor, write(e, names)])).collect();
            json!(["linear", constant, bits, terms])
        }
        Expression::Apply(name, commute, args) => {
            json!(["apply", names.text(*name), commute_name(*commute), list(args)])
        }
        Expression::Result(index, of) => json!(["result", index, write(of, names)]),
        Expression::Load(bits, args) => json!(["load", bits, list(args)]),
    }
}

const COMMUTES: [(Commute, &str); 5] = [
    (Commute::Never, "never"),
    (Commute::Unknown, "unknown"),
    (Commute::Rewritten, "rewritten"),
    (Commute::FirstTwo, "first-two"),
    (Commute::FloatingPoint, "floating-point"),
];

fn commute_name(commute: Commute) -> &'static str {
    COMMUTES.iter().find(|(c, _)| *c == commute).map_or("never", |(_, name)| name)
}

fn read(value: &Value, names: &mut Names, depth: usize) -> Option<Expression> {
    if depth > DEEPEST {
        return None;
    }
    if let Some(text) = value.as_str() {
        return read_lane(text).map(Expression::Lane);
    }
    let [kind, rest @ ..] = value.as_array()?.as_slice() else { return None };
    let small = |value: &Value| u16::try_from(value.as_u64()?).ok();
    let mut list = |value: &Value| -> Option<Vec<Expression>> {
        value.as_array()?.iter().map(|e| read(e, names, depth + 1)).collect()
    };
    Some(match (kind.as_str()?, rest) {
        ("constant", [value, bits]) => Expression::Constant(value.as_u64()?, small(bits)?),
        ("symbol", [text, bits]) => Expression::Symbol(names.intern(text.as_str()?), small(bits)?),
        ("extract", [low, bits, of]) => {
            Expression::Extract(small(low)?, small(bits)?, Box::new(read(of, names, depth + 1)?))
        }
        ("concat", [parts]) => Expression::Concat(list(parts)?),
        ("linear", [constant, bits, terms]) => {
            let mut sum = Vec::new();
            for term in terms.as_array()? {
                let [factor, of] = term.as_array()?.as_slice() else { return None };
                sum.push((factor.as_u64()?, read(of, names, depth + 1)?));
            }
            Expression::Linear(constant.as_u64()?, small(bits)?, sum)
        }
        ("apply", [name, commute, args]) => {
            let commute = commute.as_str()?;
            let commute = COMMUTES.iter().find(|(_, name)| *name == commute)?.0;
            let args = list(args)?;
            Expression::Apply(names.intern(name.as_str()?), commute, args)
        }
        ("result", [index, of]) => Expression::Result(small(index)?, Box::new(read(of, names, depth + 1)?)),
        ("load", [bits, args]) => Expression::Load(small(bits)?, list(args)?),
        _ => return None,
    })
}

fn read_lane(text: &str) -> Option<Lane> {
    let mut parts = text.split(':');
    let (place, low, bits) = (parts.next()?, parts.next()?, parts.next()?);
    let number: u32 = place.get(1..)?.parse().ok().filter(|n| *n <= LARGEST_NUMBER)?;
    let location = match place.as_bytes()[0] {
        b'p' => Location::physical(number),
        b'v' => Location::virtual_register(number),
        b's' => Location::slot(number),
        _ => return None,
    };
    parts.next().is_none().then_some(Lane::new(location, low.parse().ok()?, bits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_survive_their_text() {
        let mut names = Names::new();
        let name = names.intern("LEA64r \"x\"");
        let lane = |n: u32| Expression::Lane(Lane::new(Location::virtual_register(n), 8, 16));
        let all = vec![
            lane(1),
            Expression::Constant(u64::MAX, 64),
            Expression::Symbol(name, 64),
            Expression::Extract(0, 8, Box::new(lane(2))),
            Expression::Concat(vec![lane(1), lane(2)]),
            Expression::Linear(7, 16, vec![(u64::MAX, lane(3))]),
            Expression::Apply(name, Commute::FloatingPoint, vec![lane(1)]),
            Expression::Result(1, Box::new(Expression::Apply(name, Commute::Never, vec![]))),
            Expression::Load(32, vec![Expression::Symbol(name, 64)]),
        ];
        for expression in all {
            let text = write(&expression, &names).to_string();
            let value: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(read(&value, &mut names, 0), Some(expression), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let mut names = Names::new();
        for text in [
            "1",
            "\"x5:0:8\"",
            "\"v5:0\"",
            "\"v5:0:8:1\"",
            "[]",
            "[\"apply\", \"f\", \"maybe\", []]",
            "\"v999999999999:0:1\"",
        ] {
            let value: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(read(&value, &mut names, 0), None, "{text}");
        }
        let deep = "[\"result\",0,".repeat(90) + "\"v1:0:8\"" + &"]".repeat(90);
        let value: Value = serde_json::from_str(&deep).expect("JSON");
        assert_eq!(read(&value, &mut names, 0), None);
        assert!(AllocationCertificate::from_json("{}").is_err());
    }
}
