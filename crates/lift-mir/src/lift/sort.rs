//! The operands of an instruction, by what they are for.
//!
//! What an instruction reads and writes implicitly is said by its row; the text may add notes about liveness, such as
//! `implicit-def $rax` beside a definition of `$eax`, which mean nothing here. Where the row leaves it open (calls,
//! returns, inline assembly) the text says it, and each register is known by what it is, not by its place in the list.

use super::*;

type Implicit = Vec<(Lane, RegisterFlags)>;

impl Lifter<'_> {
    pub(super) fn sort(&mut self, line: &Line) -> Operands {
        self.defined.resize(self.function.virtuals.len(), false);
        let row = Rc::clone(&self.row);
        let mut sorted = Operands {
            defined: Vec::new(),
            used: Vec::new(),
            implicit_uses: Vec::new(),
            implicit_definitions: Vec::new(),
            mask: None,
            reads: Vec::new(),
            yields: Vec::new(),
            clobbered: Vec::new(),
            dead: Vec::new(),
            members: Vec::new(),
            open: row.variadic || row.calls || row.returns,
        };
        let mut explicit: Vec<Operand> = Vec::with_capacity(line.operands.len());
        let (mut uses, mut definitions): (Implicit, Implicit) = (Vec::new(), Vec::new());
        // The groups of inline assembly also hold what it defines implicitly.
        let grouped = line.opcode.starts_with("INLINEASM");
        for operand in &line.operands {
            match *operand {
                Operand::Register(lane, flags) => {
                    let lane = self.resolve(lane);
                    match (flags.implicit, flags.define) {
                        (false, true) => sorted.defined.push((lane, flags)),
                        (false, false) => sorted.used.push(Operand::Register(lane, flags)),
                        (true, true) => definitions.push((lane, flags)),
                        (true, false) => uses.push((lane, flags)),
                    }
                    if !flags.implicit || grouped && flags.define {
                        explicit.push(Operand::Register(lane, flags));
                    }
                }
                Operand::Mask(..) if sorted.mask.is_some() => self.gap("two register masks"),
                Operand::Mask(mask, text) => sorted.mask = Some((self.named_mask(mask, text), text)),
                other => {
                    sorted.used.push(other);
                    explicit.push(other);
                }
            }
        }
        for (lane, _) in &sorted.defined {
            if let Place::Virtual(number) = lane.location.place()
                && let Some(before) = self.defined.get_mut(number as usize)
            {
                self.redefines |= std::mem::replace(before, true);
            }
        }
        let listed = |list: &Implicit, lane: &Lane| list.iter().any(|(l, _)| l == lane);
        if row.uses.iter().any(|l| !listed(&uses, l)) || row.definitions.iter().any(|l| !listed(&definitions, l)) {
            self.doubt(format!("`{}` lacks an implicit operand", line.opcode));
        }
        self.implicit(&mut sorted, &row, uses, definitions);
        self.constrain(line, &row, &explicit, &mut sorted);
        sorted
    }

    /// A mask without a name says what it preserves.
    fn named_mask(&mut self, mask: Mask, text: Symbol) -> Mask {
        let name = self.names.text(text);
        self.function.keeps_parts |= name != "csr_64" && registers::keeps_part(name);
        if mask != Mask::Unknown {
            return mask;
        }
        let index = u16::try_from(self.function.masks.len());
        match (registers::custom_mask(self.names.text(text)), index) {
            (Some(units), Ok(index)) => {
                self.function.masks.push(units);
                Mask::Own(index)
            }
            _ => {
                self.gap(format!("the register mask `{}` is not known", self.names.text(text)));
                Mask::Unknown
            }
        }
    }

    fn implicit(&mut self, sorted: &mut Operands, row: &Row, uses: Implicit, definitions: Implicit) {
        // `dead $eax = MOV32r0 implicit-def $al`: a part, or the whole, is read.
        let live = |lane: &Lane| {
            definitions.iter().chain(&sorted.defined).any(|(l, flags)| l.location == lane.location && !flags.dead)
        };
        let all = sorted.defined.iter().chain(&definitions);
        // Of reserved registers liveness is not kept.
        let dead =
            all.filter(|(lane, flags)| flags.dead && is_physical(*lane) && !self.is_reserved(*lane) && !live(lane));
        sorted.dead = dead.map(|(lane, _)| *lane).collect();
        let told = |list: &Implicit, lane: &Lane| {
            list.iter().find(|(l, _)| l == lane).map_or(RegisterFlags::default(), |(_, flags)| *flags)
        };
        if sorted.open {
            self.open_list(sorted, row, uses, definitions);
            return;
        }
        sorted.implicit_uses = row.uses.iter().map(|lane| (*lane, told(&uses, lane))).collect();
        sorted.implicit_definitions = row.definitions.iter().map(|lane| (*lane, told(&definitions, lane))).collect();
        // What else the text defines is a note about a part of a result, or is lost.
        let known = sorted.defined.iter().chain(&sorted.implicit_definitions).map(|(lane, _)| lane.location);
        let known: Vec<Location> = known.collect();
        let others = definitions.iter().filter(|(lane, _)| !known.contains(&lane.location));
        sorted.clobbered = others.map(|(lane, _)| *lane).collect();
    }

    /// What a call, a return or inline assembly reads and writes: the text says it, and the row adds what is missing.
    fn open_list(&mut self, sorted: &mut Operands, row: &Row, uses: Implicit, definitions: Implicit) {
        // The rewriter notes the liveness of a whole register beside an explicit part of it: no operand of its own.
        let used =
            sorted.used.iter().filter_map(|o| if let Operand::Register(lane, _) = o { Some(*lane) } else { None });
        let explicit: Vec<Lane> = used.chain(sorted.defined.iter().map(|(lane, _)| *lane)).collect();
        let is_own = |(lane, _): &(Lane, RegisterFlags)| {
            !explicit.iter().any(|e| e.location == lane.location && e.bits < lane.bits)
        };
        for (list, text, fixed) in [
            (&mut sorted.implicit_uses, uses, &row.uses),
            (&mut sorted.implicit_definitions, definitions, &row.definitions),
        ] {
            *list = text.into_iter().filter(is_own).collect();
            for lane in fixed {
                if !list.iter().any(|(l, _)| l == lane) {
                    list.push((*lane, RegisterFlags::default()));
                }
            }
            list.sort_by_key(|(lane, _)| *lane);
            list.dedup_by_key(|(lane, _)| *lane);
        }
    }

    /// The registers that an instruction with an open list reads and writes, as one name.
    pub(super) fn signature(&mut self, operands: &Operands) -> Symbol {
        use std::fmt::Write;
        let mut text = String::with_capacity(64);
        for (sign, list) in [('<', &operands.implicit_uses), ('>', &operands.implicit_definitions)] {
            for (lane, _) in list {
                let _ = write!(text, "{sign}{}.{}.{}", lane.location.number(), lane.low, lane.bits);
            }
        }
        self.names.intern(&text)
    }
}
