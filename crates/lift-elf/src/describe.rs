//! What is known about a function besides its code: signatures, parameters, locals, lines.

use crate::Image;
use crate::code::Code;
use crate::content::hex;
use crate::dwarf::{Described, TypedLocal};
use crate::frame_depth::frame_depth;
use program::{Call, Callee, Function, LineTable, Local, Next, Object, Point, PointId, Register, Signature};
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, VarId};

impl Image {
    /// Completes a graph to a function.
    pub(crate) fn describe(
        &self,
        index: usize,
        code: &Code,
        points: Vec<Point>,
        objects: BTreeMap<VarId, Object>,
        arena: &Arena,
    ) -> Function {
        let called = callees(&points);
        let signature = |name: &&str| Some((name.to_string(), self.signature(name)?.clone()));
        let callees = called.iter().filter_map(signature).collect();
        let defined = called.iter().filter(|name| self.find(name).is_some()).map(|name| name.to_string()).collect();
        let surroundings = self.surroundings(index, code, &called, &objects);
        let described = self.described(index);
        let locals = self.locals(index, &points, arena);
        let known = described.filter(|d| self.is_called(index, &d.name));
        let passed = described.map_or_else(Default::default, |d| passed(&d.passed, &points));
        Function {
            name: self.functions()[index].name.clone(),
            points,
            objects,
            signature: known.and_then(|d| d.signature.clone()),
            parameters: known.map_or_else(Vec::new, |d| d.parameters.clone()),
            source_types: self.debug.source_types.clone(),
            callees,
            adopted: Default::default(),
            source: described.and_then(|d| self.debug.sources.get(&d.unit)).cloned(),
            same_source: None,
            defined,
            locals,
            lines: self.lines(code),
            hash: hex(&self.hash(index)),
            contracts: Default::default(),
            surroundings,
            undefined: Default::default(),
            assert_texts: Default::default(),
            folded: None,
            truths: Default::default(),
            volatile: Default::default(),
            unoptimised: described.is_some_and(|d| d.unoptimised && !d.moves_variables) && self.sets_up_rbp(index),
            alignments: Default::default(),
            likely_alignments: Default::default(),
            paddings: Default::default(),
            undescribed_frame: false,
            local_ends: Default::default(),
            pointer_calls: BTreeMap::new(),
            passed,
        }
    }

    /// Was a function, or what it is a piece of, made by a compiler of something? Only debug information says so.
    pub(crate) fn is_compiled(&self, index: usize) -> bool {
        self.described(index).is_some() || self.functions()[index].parent.is_some_and(|p| self.described(p).is_some())
    }

    pub(crate) fn described(&self, index: usize) -> Option<&Described> {
        self.debug.functions.get(&self.functions()[index].place)
    }

    /// Is this the function's own name? Clones (`f.isra.0`) share the source's entry but not its signature.
    pub(crate) fn is_called(&self, index: usize, name: &str) -> bool {
        let entry = &self.functions()[index];
        let plain = |unique: &String| unique.rsplit(':').next().is_some_and(|n| n.split('#').next() == Some(name));
        plain(&entry.name) || entry.aliases.iter().any(plain)
    }

    /// The signature of a function by its unique name.
    pub fn signature(&self, name: &str) -> Option<&Signature> {
        match self.find(name) {
            Some(index) => {
                let described = self.described(index)?;
                described.signature.as_ref().filter(|_| self.is_called(index, &described.name))
            }
            None => self.debug.signatures.get(name)?.as_ref(),
        }
    }

    /// Is a function known never to return: by its declaration, or by the library's?
    pub(crate) fn never_returns(&self, name: &str) -> bool {
        let declared = self.signature(name);
        let row = || library::row(name, declared).filter(|_| self.find(name).is_none());
        declared.is_some_and(|s| s.noreturn) || row().is_some_and(|c| c.noreturn)
    }

    /// Locals with their types.
    pub(crate) fn typed_locals(&self, index: usize, points: &[Point], arena: &Arena) -> Vec<TypedLocal> {
        let Some(described) = self.described(index) else { return Vec::new() };
        let by_rbp = if self.sets_up_rbp(index) { &described.locals_by_rbp[..] } else { &[] };
        let mut locals: Vec<TypedLocal> = described.locals.iter().chain(by_rbp).cloned().collect();
        if !described.locals_by_rsp.is_empty()
            && let Some(depth) = frame_depth(points, arena)
        {
            locals.extend(described.locals_by_rsp.iter().cloned().map(|mut typed| {
                typed.local.offset = typed.local.offset.saturating_add(depth);
                typed
            }));
        }
        locals
    }

    fn locals(&self, index: usize, points: &[Point], arena: &Arena) -> Vec<Local> {
        let typed = self.typed_locals(index, points, arena);
        let mut locals: Vec<Local> = typed.into_iter().map(|typed| typed.local).collect();
        locals.sort_by(|a, b| (a.offset, a.size, &a.name).cmp(&(b.offset, b.size, &b.name)));
        locals.dedup();
        locals
    }

    /// Does the function begin with `push rbp; mov rbp, rsp`?
    pub(crate) fn sets_up_rbp(&self, index: usize) -> bool {
        let place = self.functions()[index].place;
        let code = self.data(place.section).get(place.offset as usize..).unwrap_or(&[]);
        let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
        code.starts_with(&[0x55, 0x48, 0x89, 0xe5]) || code.starts_with(&[0x55, 0x48, 0x8b, 0xec])
    }

    fn lines(&self, code: &Code) -> LineTable {
        let mut rows = Vec::new();
        for (part, start) in code.parts() {
            let function = &self.functions()[*part];
            let lines = self.debug.lines.range(function.place, function.size);
            rows.extend(lines.into_iter().map(|(at, line)| (start.wrapping_add(at), line)));
        }
        rows.sort_by_key(|(at, _)| *at);
        LineTable { rows }
    }

    /// Why the debug information could not be read to its end, if that is so.
    pub fn debug_trouble(&self) -> Option<&str> {
        self.debug.trouble.as_deref()
    }
}

/// Registers that debug information says calls pass, by their points: the last call before each place.
fn passed(described: &[(u64, Register)], points: &[Point]) -> BTreeMap<PointId, BTreeSet<Register>> {
    let mut calls: Vec<(u64, PointId)> = Vec::new();
    for (i, point) in points.iter().enumerate().filter(|(_, point)| matches!(point.next, Next::Call(_))) {
        calls.push((point.last_address(), PointId(i as u32)));
    }
    calls.sort_unstable();
    let mut out: BTreeMap<PointId, BTreeSet<Register>> = BTreeMap::new();
    for (end, register) in described {
        let behind = calls.partition_point(|(at, _)| at <= end);
        if let Some((_, call)) = behind.checked_sub(1).map(|i| calls[i]) {
            out.entry(call).or_default().insert(*register);
        }
    }
    out
}

/// Names of the functions that a graph calls directly.
fn callees(points: &[Point]) -> BTreeSet<&str> {
    let mut out = BTreeSet::new();
    for point in points {
        if let Next::Call(Call { callee: Callee::Named(name), .. }) = &point.next {
            out.insert(name.as_str());
        }
    }
    out
}
