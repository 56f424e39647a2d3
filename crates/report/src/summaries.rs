//! Certificates of register allocations and of C kernels in words: they have no product graph with invariants.

use crate::palette::printable;
use kernel::nests::UpdateCertificate;
use serde_json::Value;

/// What a certificate about C kernels claims.
pub fn render_update_claim(certificate: &UpdateCertificate) -> String {
    let mut out = format!(
        "{}: every cell ends with the same value, computed in full at one size\n",
        pair(&certificate.original, &certificate.candidate)
    );
    let mut row = |name: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out.push_str(&format!("  {name:<12} {}\n", printable(&lines.join(" "))));
        }
    };
    row("parameters", certificate.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect());
    row("defines", certificate.defines.iter().map(|d| format!("-D{d}")).collect());
    row("includes", certificate.includes.iter().map(|i| format!("-I{i}")).collect());
    row("floats", vec![certificate.fp.clone()]);
    let values = if certificate.strict { "every intermediate value" } else { "final values" };
    row("compared", vec![values.to_string()]);
    let subscripts = if certificate.flat { "may leave their row inside the array" } else { "stay in their row" };
    row("subscripts", vec![subscripts.to_string()]);
    out.push_str("  there are no invariants in it: the kernel runs both kernels again\n");
    out
}

/// What a certificate about a register allocation claims, from its JSON. The error says what is missing.
pub fn render_allocation_claim(certificate: &Value) -> Result<String, String> {
    let missing = |what: &str| format!("the certificate has no `{what}`");
    let text = |key: &str| certificate.get(key).and_then(Value::as_str).ok_or_else(|| missing(key));
    let points = certificate.get("points").and_then(Value::as_array).ok_or_else(|| missing("points"))?;
    let equations = |point: &Value| point.get("equations").and_then(Value::as_array).cloned().unwrap_or_default();
    let all: usize = points.iter().map(|p| equations(p).len()).sum();
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut out = format!(
        "{}: register allocation, {}, {}\n",
        pair(text("original")?, text("candidate")?),
        count(points.len(), "pair of blocks", "pairs of blocks"),
        count(all, "equation", "equations")
    );
    for point in points {
        let number = |i: usize| point["blocks"].get(i).map_or("?".to_string(), describe);
        out.push_str(&format!("  o bb.{}, c bb.{}\n", number(0), number(1)));
        for equation in equations(point) {
            let side = |i: usize| equation.get(i).map_or("?".to_string(), describe);
            out.push_str(&format!("    {} = {}\n", side(0), side(1)));
        }
    }
    Ok(out)
}

fn pair(original: &str, candidate: &str) -> String {
    let [a, b] = [original, candidate].map(printable);
    if a == b { a } else { format!("{a} = {b}") }
}

/// A word as it is, a list as a function of its rest. JSON readers bound the depth.
fn describe(value: &Value) -> String {
    match value {
        Value::String(word) => printable(word),
        Value::Array(list) => {
            let mut words = list.iter().map(describe);
            let first = words.next().unwrap_or_default();
            format!("{first}({})", words.collect::<Vec<_>>().join(", "))
        }
        other => printable(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn a_kernel() {
        let certificate = UpdateCertificate {
            kind: "updates".to_string(),
            version: 1,
            original: "gemm".to_string(),
            candidate: "tiled".to_string(),
            interface_hash: None,
            original_hash: String::new(),
            candidate_hash: String::new(),
            parameters: vec![("n".to_string(), 24)],
            defines: vec!["N=24".to_string()],
            includes: vec![],
            fp: "ieee".to_string(),
            strict: false,
            flat: false,
        };
        expect![[r#"
            gemm = tiled: every cell ends with the same value, computed in full at one size
              parameters   n=24
              defines      -DN=24
              floats       ieee
              compared     final values
              subscripts   stay in their row
              there are no invariants in it: the kernel runs both kernels again
        "#]]
        .assert_eq(&render_update_claim(&certificate));
    }

    #[test]
    fn an_allocation() {
        let certificate = json!({"original": "f", "candidate": "f", "points": [
            {"blocks": [0, 0], "equations": [["v5:0:64", "p0"], [["add", "v1", 4], "s3"]]},
        ]});
        expect![[r#"
            f: register allocation, 1 pair of blocks, 2 equations
              o bb.0, c bb.0
                v5:0:64 = p0
                add(v1, 4) = s3
        "#]]
        .assert_eq(&render_allocation_claim(&certificate).expect("complete"));
        assert_eq!(render_allocation_claim(&json!({})), Err("the certificate has no `points`".to_string()));
    }
}
