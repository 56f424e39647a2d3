//! Reports are what `docs/report.schema.json` says: of all engines, as one object and in lines.

mod lockstep;

use lockstep::Bench;
use serde_json::Value;
use std::path::Path;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("a schema")
}

/// What a value violates, with its place. A keyword that is not known here must not be in the schema.
fn violation(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let rules = schema.as_object().expect("a schema is an object");
    rules.iter().find_map(|(keyword, rule)| {
        let fails = |holds: bool| (!holds).then(|| format!("{at}: {keyword} {rule}: {value}"));
        match keyword.as_str() {
            "$schema" | "title" | "$defs" => None,
            "$ref" => {
                let pointer = rule.as_str().and_then(|r| r.strip_prefix('#')).expect("a reference inside");
                violation(root, root.pointer(pointer).expect("a definition"), value, at)
            }
            "const" => fails(value == rule),
            "enum" => fails(rule.as_array().expect("a list").contains(value)),
            "type" => fails(match rule.as_str().expect("one type") {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "number" => value.is_number(),
                "integer" => value.is_u64() || value.is_i64(),
                "null" => value.is_null(),
                other => panic!("type {other}"),
            }),
            "required" => {
                fails(rule.as_array().expect("a list").iter().all(|n| value.get(n.as_str().expect("a name")).is_some()))
            }
            "additionalProperties" => {
                assert_eq!(rule, &Value::Bool(false));
                let known = &schema["properties"];
                fails(value.as_object().is_none_or(|fields| fields.keys().all(|name| known.get(name).is_some())))
            }
            "properties" => rule.as_object().expect("an object").iter().find_map(|(name, rule)| {
                value.get(name).and_then(|field| violation(root, rule, field, &format!("{at}.{name}")))
            }),
            "items" => value.as_array().and_then(|items| {
                items.iter().enumerate().find_map(|(i, item)| violation(root, rule, item, &format!("{at}[{i}]")))
            }),
            "oneOf" => {
                let choices = rule.as_array().expect("a list").iter();
                let why: Vec<Option<String>> = choices.map(|choice| violation(root, choice, value, at)).collect();
                let fitting = why.iter().filter(|why| why.is_none()).count();
                (fitting != 1).then(|| format!("{at}: {fitting} of oneOf: {why:?}"))
            }
            other => panic!("{at}: keyword {other} is not known to this test"),
        }
    })
}

#[track_caller]
fn fits(text: &str, what: &str) -> Value {
    let schema = schema();
    let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{what}: {e}: {text}"));
    assert_eq!(violation(&schema, &schema, &value, "report"), None, "{what}");
    value
}

#[test]
fn reports_of_all_engines_fit_the_schema() {
    let bench = Bench::new();
    let functions = |last: &'static str| {
        [
            ("same", "lea eax, [rdi + rdi]\nret"),
            ("strange", "fld st(0)\nfsincos\nret"),
            ("calls", "sub rsp, 8\ncall puts\nadd rsp, 8\nret"),
            ("result", last),
        ]
    };
    bench.assembly("a.s", &functions("mov eax, [rdi]\nret"));
    let mut candidate = functions("mov eax, [rdi]\nadd eax, 1\nret").to_vec();
    candidate[1].1 = "fld st(0)\nfsincos\nnop\nret";
    candidate.remove(2);
    bench.assembly("b.s", &candidate);
    bench.write("k.c", b"void k(int *a) { for (int i = 0; i < 4; i++) a[i] = i; }");
    bench.write("w.c", b"void k(int *a) { for (int i = 0; i < 4; i++) a[i] = i + (i == 3); }");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in ["total.before.mir", "total.after.mir", "total.wrong.mir"] {
        bench.write(name, &std::fs::read(examples.join(name)).expect("an example"));
    }
    let pairs =
        ["a.s b.s", "k.c k.c", "k.c w.c", "total.before.mir total.after.mir", "total.before.mir total.wrong.mir"];
    for files in pairs {
        let json = bench.run(&format!("check {files} --format json --stats"));
        let report = fits(&json.out, files);
        let lines = bench.run(&format!("check {files} --format jsonl"));
        assert_eq!(lines.status, json.status, "{files}: {}", lines.err);
        let lines: Vec<Value> = lines.out.lines().map(|line| fits(line, files)).collect();
        let all = report["functions"].as_array().expect("functions");
        assert_eq!(lines.len(), all.len() + 2, "{files}");
        for (line, function) in lines[1..].iter().zip(all) {
            assert_eq!((&line["name"], &line["verdict"]), (&function["name"], &function["verdict"]), "{files}");
        }
    }
}

#[test]
fn the_schema_refuses_what_is_no_report() {
    let schema = schema();
    for wrong in [
        r#"{}"#,
        r#"{"version":2,"original":"a","candidate":"b","functions":[],"summary":{"equivalent":0,"different":0,"unknown":0}}"#,
        r#"{"version":1,"original":"a","candidate":"b","functions":[{"name":"f"}],"summary":{"equivalent":0,"different":0,"unknown":0}}"#,
        r#"{"version":1,"original":"a","candidate":"b","functions":[],"summary":{"equivalent":0,"different":0,"unknown":0},"more":1}"#,
        r#"{"line":"end","time_ms":1.0,"summary":{"equivalent":0,"different":0},"stopped":null}"#,
    ] {
        let value: Value = serde_json::from_str(wrong).expect("JSON");
        assert!(violation(&schema, &schema, &value, "report").is_some(), "{wrong}");
    }
}
