//! Functions: header, blocks, and the registers that their values live in.

use crate::constants::Scope;
use crate::token::{Reader, Token, tokens};
use crate::types::{Names, Type};
use crate::{instruction, meets, promote};
use ir::{Block, Edge, End, Function, Inst, Kind, Known, Parameter};
use rustc_hash::{FxHashMap, FxHashSet};

/// The text of a function: its first line, and the lines of its body.
pub(crate) struct Text<'a> {
    pub header: &'a str,
    pub body: Vec<&'a str>,
}

/// A function under construction.
pub(crate) struct Builder<'a> {
    pub scope: &'a Scope<'a>,
    /// Numbers of the module's functions.
    pub functions: &'a FxHashMap<String, u32>,
    /// Metadata that says that a value is zero or one.
    pub truths: &'a FxHashSet<String>,
    registers: Vec<Kind>,
    named: FxHashMap<String, u32>,
    /// Registers whose kind is not known yet.
    defined: Vec<bool>,
    constants: FxHashMap<(Known, Kind), u32>,
    blocks: FxHashMap<String, u32>,
    phis: Vec<Phi>,
}

/// A value that depends on the way to its block.
struct Phi {
    block: u32,
    to: u32,
    from: Vec<(u32, u32)>,
}

/// The name of a function in its header, and the tokens of it.
pub(crate) fn name_of(header: &[Token]) -> Option<&str> {
    header.iter().find_map(|token| match token {
        Token::Global(name) => Some(name.as_str()),
        _ => None,
    })
}

impl Builder<'_> {
    fn new_register(&mut self, kind: Kind) -> u32 {
        self.registers.push(kind);
        self.defined.push(true);
        self.registers.len() as u32 - 1
    }

    /// A register for a result that nobody uses.
    pub fn unnamed(&mut self, kind: Kind) -> u32 {
        self.new_register(kind)
    }

    /// The register of a name, wherever it is set.
    pub fn used(&mut self, name: &str, kind: Kind) -> Result<u32, String> {
        if let Some(register) = self.named.get(name).copied() {
            if self.registers[register as usize] != kind {
                return Err(format!("`%{name}` is used with two types"));
            }
            return Ok(register);
        }
        let register = self.new_register(kind);
        self.defined[register as usize] = false;
        self.named.insert(name.to_string(), register);
        Ok(register)
    }

    /// The register that an instruction sets.
    pub fn defined(&mut self, name: &str, kind: Kind) -> Result<u32, String> {
        let known = self.named.contains_key(name);
        let register = self.used(name, kind)?;
        if known && std::mem::replace(&mut self.defined[register as usize], true) {
            return Err(format!("`%{name}` is set twice"));
        }
        self.defined[register as usize] = true;
        Ok(register)
    }

    /// An operand of a kind.
    pub fn operand(&mut self, reader: &mut Reader<'_>, kind: Kind) -> Result<u32, String> {
        if let Some(Token::Local(name)) = reader.peek() {
            reader.next()?;
            return self.used(name, kind);
        }
        let known = self.scope.scalar(reader, kind)?;
        Ok(self.constant(known, kind))
    }

    pub fn constant(&mut self, known: Known, kind: Kind) -> u32 {
        if let Some(register) = self.constants.get(&(known, kind)) {
            return *register;
        }
        let register = self.new_register(kind);
        self.constants.insert((known, kind), register);
        register
    }

    /// `label %name`.
    pub fn label(&mut self, reader: &mut Reader<'_>) -> Result<Edge, String> {
        if !reader.take_word("label") {
            return Err("no label where one is expected".to_string());
        }
        let name = reader.local()?;
        let to = *self.blocks.get(name).ok_or_else(|| format!("no block `{name}`"))?;
        Ok(Edge { to, moves: Vec::new() })
    }

    /// `phi double [ %a, %block ], …`.
    fn phi(&mut self, block: u32, name: &str, reader: &mut Reader<'_>) -> Result<(), String> {
        let kind = Type::read(reader)?.register()?;
        let to = self.defined(name, kind)?;
        let mut from = Vec::new();
        loop {
            reader.expect('[')?;
            let value = self.operand(reader, kind)?;
            reader.expect(',')?;
            let source = reader.local()?;
            from.push((*self.blocks.get(source).ok_or_else(|| format!("no block `{source}`"))?, value));
            reader.expect(']')?;
            if !reader.take(',') || matches!(reader.peek(), Some(Token::Meta(_))) {
                break;
            }
        }
        self.phis.push(Phi { block, to, from });
        Ok(())
    }
}

/// The label that a line is, if it is one.
fn label_of(line: &str) -> Option<String> {
    if line.starts_with(' ') || line.is_empty() {
        return None;
    }
    let before = line.split(';').next().unwrap_or("").trim_end();
    let name = before.strip_suffix(':')?;
    Some(name.trim_matches('"').to_string())
}

/// What a function returns and takes.
type Signature = (Option<Kind>, Vec<Taken>);

/// A parameter in a header.
struct Taken {
    name: String,
    kind: Kind,
    copied: Option<u64>,
}

/// The result type and the parameters of a header: `define dso_local void @f(ptr noundef %a) #0 {`.
fn header(reader: &mut Reader<'_>, names: &Names) -> Result<Signature, String> {
    let mut result = None;
    // Words before the result type, and attributes of the result.
    loop {
        match reader.peek() {
            Some(Token::Word(word)) => match word.as_str() {
                "define" | "dso_local" | "internal" | "private" | "hidden" | "noundef" | "signext" | "zeroext"
                | "nonnull" | "noalias" | "local_unnamed_addr" | "unnamed_addr" => {
                    reader.next()?;
                }
                "available_externally" | "weak" | "linkonce" | "weak_odr" | "linkonce_odr" => {
                    return Err("a function that another file may define otherwise".to_string());
                }
                _ => result = Some(Type::read(reader)?),
            },
            Some(Token::Global(_)) => break,
            Some(_) => result = Some(Type::read(reader)?),
            None => return Err("a header without a name".to_string()),
        }
    }
    reader.next()?;
    let result = match result {
        Some(Type::Void) => None,
        Some(ty) => Some(ty.register()?),
        None => return Err("a function without a type".to_string()),
    };
    reader.expect('(')?;
    let mut parameters = Vec::new();
    while !reader.take(')') {
        if reader.is_word("...") {
            return Err("a function with any number of arguments".to_string());
        }
        let (kind, mut copied) = (Type::read(reader)?.kind()?, None);
        loop {
            match reader.next()? {
                Token::Local(name) => {
                    parameters.push(Taken { name: name.clone(), kind, copied });
                    break;
                }
                Token::Word(word) if word == "byval" => copied = Some(in_brackets(reader)?.layout(names)?.0),
                Token::Word(word) => attribute(word, reader)?,
                other => return Err(format!("a parameter with {other:?}")),
            }
        }
        reader.take(',');
    }
    Ok((result, parameters))
}

/// `(T)`.
pub(crate) fn in_brackets(reader: &mut Reader<'_>) -> Result<Type, String> {
    reader.expect('(')?;
    let ty = Type::read(reader)?;
    reader.expect(')')?;
    Ok(ty)
}

/// An attribute of a parameter or argument that changes nothing here.
pub(crate) fn attribute(word: &str, reader: &mut Reader<'_>) -> Result<(), String> {
    match word {
        "noundef" | "signext" | "zeroext" | "noalias" | "nocapture" | "readonly" | "readnone" | "writeonly"
        | "nonnull" | "returned" | "immarg" | "nofree" | "writable" | "dead_on_unwind" => Ok(()),
        "align" => reader.next().map(|_| ()),
        // Where a structure is returned: an address like any other.
        "dereferenceable" | "dereferenceable_or_null" | "captures" | "sret" => reader.skip_brackets('(', ')'),
        other => Err(format!("a parameter with `{other}`")),
    }
}

/// Reads a function; a body that cannot be read leaves the reason.
pub(crate) fn read(
    text: &Text<'_>,
    scope: &Scope<'_>,
    functions: &FxHashMap<String, u32>,
    truths: &FxHashSet<String>,
) -> Result<Function, String> {
    let list = tokens(text.header)?;
    let name = name_of(&list).ok_or("a function without a name")?.to_string();
    let mut builder = Builder {
        scope,
        functions,
        truths,
        registers: Vec::new(),
        named: FxHashMap::default(),
        defined: Vec::new(),
        constants: FxHashMap::default(),
        blocks: FxHashMap::default(),
        phis: Vec::new(),
    };
    let mut function = Function {
        name,
        parameters: Vec::new(),
        result: None,
        constants: Vec::new(),
        registers: Vec::new(),
        blocks: Vec::new(),
        refused: None,
        hash: String::new(),
        mentions: Vec::new(),
        calls: Vec::new(),
        entered: true,
    };
    if let Err(why) = fill(&mut builder, text, &list, &mut function) {
        function.refused = Some(why);
        function.blocks.clear();
    }
    Ok(function)
}

fn fill(builder: &mut Builder<'_>, text: &Text<'_>, list: &[Token], function: &mut Function) -> Result<(), String> {
    let (result, parameters) = header(&mut Reader::new(list), builder.scope.names)?;
    function.result = result;
    for Taken { name, kind, copied } in parameters {
        let register = builder.defined(&name, kind)?;
        function.parameters.push(Parameter { name, kind, register, copied });
    }
    let blocks = split(&text.body);
    for (number, (name, _)) in blocks.iter().enumerate() {
        if builder.blocks.insert(name.clone(), number as u32).is_some() {
            return Err(format!("two blocks `{name}`"));
        }
    }
    for (number, (name, lines)) in blocks.into_iter().enumerate() {
        let mut code: Vec<Inst> = Vec::new();
        let mut end = None;
        for line in &lines {
            let list = tokens(line)?;
            let mut reader = Reader::new(&list);
            let told = |why: String| format!("{why} in `{}`", line.trim());
            if end.is_some() {
                return Err(told("an instruction behind the end of its block".to_string()));
            }
            if let (Some(Token::Local(to)), Some(Token::Mark('='))) = (list.first(), list.get(1))
                && matches!(list.get(2), Some(Token::Word(word)) if word == "phi")
            {
                let mut reader = Reader::new(&list[3..]);
                builder.phi(number as u32, to, &mut reader).map_err(told)?;
                continue;
            }
            match instruction::end(builder, &mut reader).map_err(told)? {
                Some(found) => end = Some(found),
                None => instruction::read(builder, &list, &mut code).map_err(told)?,
            }
        }
        let end = end.ok_or_else(|| format!("the block `{name}` does not end"))?;
        function.blocks.push(Block { name, code, end, meet: None });
    }
    if function.blocks.is_empty() {
        return Err("a function without blocks".to_string());
    }
    if let Some((name, _)) = builder.named.iter().find(|(_, r)| !builder.defined[**r as usize]) {
        return Err(format!("`%{name}` is never set"));
    }
    join(builder, &mut function.blocks)?;
    function.registers = std::mem::take(&mut builder.registers);
    function.constants = builder.constants.iter().map(|((known, _), register)| (*register, *known)).collect();
    function.constants.sort_by_key(|(register, _)| *register);
    promote::promote(function);
    meets::find(&mut function.blocks);
    Ok(())
}

/// The blocks: name and lines, of which a `switch` has several joined.
fn split(body: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    let mut open: Option<String> = None;
    for line in body {
        if let Some(text) = &mut open {
            text.push_str(line);
            if line.trim() == "]" || line.trim().starts_with("],") {
                let text = open.take().unwrap_or_default();
                if let Some((_, lines)) = blocks.last_mut() {
                    lines.push(text);
                }
            }
            continue;
        }
        if let Some(name) = label_of(line) {
            blocks.push((name, Vec::new()));
            continue;
        }
        if line.trim().is_empty() || line.trim().starts_with(';') {
            continue;
        }
        if blocks.is_empty() {
            blocks.push((String::new(), Vec::new()));
        }
        if line.trim().starts_with("switch ") && line.trim_end().ends_with('[') {
            open = Some((*line).to_string());
            continue;
        }
        if let Some((_, lines)) = blocks.last_mut() {
            lines.push((*line).to_string());
        }
    }
    blocks
}

/// Puts what depends on the way on the ways.
fn join(builder: &Builder<'_>, blocks: &mut [Block]) -> Result<(), String> {
    for (number, block) in blocks.iter_mut().enumerate() {
        let edges: Vec<&mut Edge> = match &mut block.end {
            End::Jump(edge) => vec![edge],
            End::Branch(_, edges) => edges.iter_mut().collect(),
            End::Switch(_, _, edges) => edges.iter_mut().collect(),
            End::Return(_) | End::Unreachable => Vec::new(),
        };
        for edge in edges {
            for phi in builder.phis.iter().filter(|phi| phi.block == edge.to) {
                let found = phi.from.iter().find(|(from, _)| *from == number as u32);
                let (_, value) = found.ok_or("a way to a block whose value there is not said")?;
                edge.moves.push((phi.to, *value));
            }
        }
    }
    Ok(())
}
