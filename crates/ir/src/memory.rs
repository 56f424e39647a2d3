//! Reads and writes of memory, and the lives of objects.

use crate::datum::{Datum, signed_type};
use crate::fork::Undo;
use crate::machine::{Machine, Run};
use crate::module::{Kind, Known, Linkage, Start};
use crate::region::{Backing, Found, Region, Slot, UNTOUCHED};
use updates::{Domain, FaultKind, Origin, STATIC, Scalar, input_key};

/// Most objects of a run.
const MOST_REGIONS: usize = 4_000_000;
/// What an object without a known extent may grow to.
pub(crate) const MOST_BYTES: u64 = 1 << 32;

/// A place that was found to be inside its object: region, cell, bytes from the start.
pub(crate) type Inside = (usize, usize, u64);

pub(crate) fn is_float(kind: Kind) -> bool {
    matches!(kind, Kind::Float | Kind::Double)
}

impl<D: Domain> Machine<'_, D> {
    /// Adds an object.
    pub(crate) fn add(&mut self, region: Region<D::Value>) -> Run<u32> {
        if self.regions.len() >= MOST_REGIONS {
            return Err(self.fault(FaultKind::Memory, "too many objects".to_string()));
        }
        self.regions.push(region);
        Ok(self.regions.len() as u32 - 1)
    }

    /// The cell of an access.
    #[inline]
    pub(crate) fn inside(&mut self, datum: Datum<D::Value>, bytes: u8) -> Run<Inside> {
        let Datum::Place(number, offset) = datum else {
            return Err(match datum {
                Datum::Bits(_) => self.undefined("an access through null, or through a number".to_string()),
                other => self.no_number(other),
            });
        };
        let region = &self.regions[number as usize];
        let fits = offset >= 0 && (offset as u64).saturating_add(u64::from(bytes)) <= region.size;
        if !fits || !region.alive {
            let what = if region.alive { "an access outside" } else { "an access after the life of" };
            let what = format!("{what} `{}`", region.name);
            return Err(self.undefined(what));
        }
        let offset = offset as u64;
        let grain = u64::from(region.grain);
        if bytes < region.grain || offset & (grain - 1) != 0 {
            self.refine(number as usize, offset, bytes)?;
        }
        let region = &mut self.regions[number as usize];
        let index = (offset >> region.grain.trailing_zeros()) as usize;
        let last = index + usize::from(bytes / region.grain) - 1;
        region.reached = region.reached.max(offset + u64::from(bytes));
        if region.cells.len() <= last {
            self.cells += (last + 1 - region.cells.len()) as u64;
            region.reach(last);
            if self.cells > self.limits.cells {
                return Err(self.fault(FaultKind::Memory, "too many cells".to_string()));
            }
        }
        Ok((number as usize, index, offset))
    }

    fn refine(&mut self, number: usize, offset: u64, bytes: u8) -> Run<()> {
        if !self.journals.is_empty() {
            return Err(self.unsupported("memory is taken apart under a condition on data"));
        }
        let region = &mut self.regions[number];
        let grain = region.needed(offset, bytes);
        region.refine(grain);
        Ok(())
    }

    /// Sets a cell.
    #[inline]
    fn set_slot(&mut self, number: usize, index: usize, slot: Slot<D::Value>) {
        let region = &mut self.regions[number];
        if let Some(journal) = self.journals.last_mut() {
            journal.push(Undo::Slot(number as u32, index as u32, region.cells[index]));
        }
        region.cells[index] = slot;
    }

    /// Number and type of the input at a place.
    pub(crate) fn input_at(&self, number: usize, offset: u64, ty: Scalar) -> Option<(u64, Scalar)> {
        match &self.regions[number].backing {
            // What the caller's declaration says about the sign of an integer is as good as anything.
            Backing::Input { layout: Some(layout), .. } => {
                let (cell, of) = layout.cell(offset)?;
                let same = of == ty || of.bytes() == ty.bytes() && !of.is_float() && !ty.is_float();
                // Whether all but one bit are zero is for the compiler to say.
                (same && (of == Scalar::Bool) == (ty == Scalar::Bool)).then_some((cell, of))
            }
            Backing::Input { layout: None, .. } => Some((offset, ty)),
            _ => None,
        }
    }

    /// What a cell holds that nobody touched, if the other side of a branch leaves this there.
    pub(crate) fn untouched(&mut self, number: usize, index: usize, other: Slot<D::Value>) -> Run<Datum<D::Value>> {
        let region = &self.regions[number];
        let offset = index as u64 * u64::from(region.grain);
        let ty = match (&region.backing, other.datum) {
            (Backing::Input { layout: Some(layout), .. }, _) => layout.cell(offset).map(|(_, ty)| ty),
            (_, Datum::Value(_, ty)) if ty.is_float() || ty == Scalar::Bool && other.bytes == 1 => Some(ty),
            _ => signed_type(8 * other.bytes),
        };
        match (&region.backing, ty) {
            (Backing::Zero, _) => Ok(Datum::Bits(0)),
            (Backing::Nothing, _) => Ok(Datum::Poison),
            (Backing::Input { .. }, Some(ty)) if ty.bytes() == u64::from(other.bytes) => self.input(number, offset, ty),
            _ => Err(self.unsupported("a branch on data leaves cells of different types")),
        }
    }

    fn input(&mut self, number: usize, offset: u64, ty: Scalar) -> Run<Datum<D::Value>> {
        let Backing::Input { key, .. } = self.regions[number].backing else { return Ok(Datum::Poison) };
        let Some((cell, of)) = self.input_at(number, offset, ty) else {
            let name = &self.regions[number].name;
            return Err(self.unsupported(format!("`{name}` is read with another type than it has")));
        };
        let value = self.domain.input(key, cell, of);
        Ok(self.held(value, of, 8 * of.bytes() as u8))
    }

    #[inline]
    pub(crate) fn load(&mut self, at: u32, kind: Kind, truth: bool) -> Run<Datum<D::Value>> {
        let place = self.inside(self.get(at), kind.bytes())?;
        self.load_cell(place, kind, truth)
    }

    /// What lies at a place.
    #[inline]
    pub(crate) fn load_cell(
        &mut self,
        (number, index, offset): Inside,
        kind: Kind,
        truth: bool,
    ) -> Run<Datum<D::Value>> {
        let datum = match self.regions[number].read(index, kind.bytes()) {
            Found::Datum(datum) => datum,
            Found::Untouched => {
                let ty = if truth { Some(Scalar::Bool) } else { self.plain(kind) };
                let Some(ty) = ty else { return Err(self.unsupported("an address in the caller's memory")) };
                let datum = self.input(number, offset, ty)?;
                let slot = Slot { datum, bytes: kind.bytes(), float: is_float(kind) };
                for (index, slot) in self.regions[number].changes(index, slot) {
                    self.set_slot(number, index, slot);
                }
                datum
            }
            Found::Torn => return Err(self.unsupported("a piece of a value is read")),
        };
        let fits = match (datum, kind) {
            (Datum::Bits(_), _) => true,
            (Datum::Value(_, ty), Kind::Int(_)) => !ty.is_float(),
            (Datum::Value(_, ty), _) => self.plain(kind) == Some(ty),
            (Datum::Place(..), _) => kind.bytes() == 8,
            (other, _) => return Err(self.no_number(other)),
        };
        // A truth value that is not zero or one has no meaning.
        let meant = !truth || !matches!(datum, Datum::Value(_, ty) if ty != Scalar::Bool);
        if !fits || !meant || truth && matches!(datum, Datum::Bits(2..)) {
            return Err(self.unsupported("a value of one type is read as one of another"));
        }
        Ok(datum)
    }

    #[inline]
    pub(crate) fn store(&mut self, at: u32, datum: Datum<D::Value>, kind: Kind) -> Run<()> {
        let (number, index, _) = self.inside(self.get(at), kind.bytes())?;
        self.write(number, index, Slot { datum, bytes: kind.bytes(), float: is_float(kind) })
    }

    #[inline]
    pub(crate) fn write(&mut self, number: usize, index: usize, slot: Slot<D::Value>) -> Run<()> {
        let region = &mut self.regions[number];
        if !region.writable {
            let what = format!("a write to the constant `{}`", region.name);
            return Err(self.undefined(what));
        }
        region.dirty = true;
        self.updates += u64::from(matches!(region.backing, Backing::Input { .. }));
        let old = region.cells[index].bytes;
        if slot.bytes == region.grain && (old == slot.bytes || old == UNTOUCHED) {
            self.set_slot(number, index, slot);
            return Ok(());
        }
        for (index, slot) in region.changes(index, slot) {
            self.regions[number].reach(index);
            self.set_slot(number, index, slot);
        }
        Ok(())
    }

    /// Room for a variable of the innermost call.
    pub(crate) fn reserve(&mut self, bytes: u64, count: Option<u32>, grain: u8, lasting: bool) -> Run<Datum<D::Value>> {
        let count = match count {
            None => 1,
            Some(register) => {
                let count = self.known(register, 64)?;
                u64::try_from(count)
                    .ok()
                    .filter(|count| *count > 0)
                    .ok_or_else(|| self.undefined("an array without elements, or with less than none".to_string()))?
            }
        };
        let size = bytes.checked_mul(count).filter(|size| *size <= MOST_BYTES);
        let Some(size) = size else { return Err(self.fault(FaultKind::Memory, "too large a variable".to_string())) };
        let mut region = Region::new("a local variable".to_string(), size, grain, Backing::Nothing);
        region.heap = lasting;
        Ok(Datum::Place(self.add(region)?, 0))
    }

    /// A variable begins or ends its life.
    pub(crate) fn forget(&mut self, at: u32) -> Run<()> {
        let Datum::Place(number, 0) = self.get(at) else { return Err(self.unsupported("the life of no variable")) };
        let number = number as usize;
        if std::mem::take(&mut self.regions[number].dirty) {
            for index in 0..self.regions[number].cells.len() {
                if self.regions[number].cells[index].bytes != UNTOUCHED {
                    self.set_slot(number, index, Slot::UNTOUCHED);
                }
            }
        }
        Ok(())
    }

    /// Ends the lives of variables that were reserved since a point.
    pub(crate) fn restore(&mut self, from: u32) -> Run<()> {
        let count = self.known(from, 64)?;
        self.bury(count as usize);
        Ok(())
    }

    /// Ends the lives of all variables from a number on.
    pub(crate) fn bury(&mut self, from: usize) {
        for number in from..self.regions.len() {
            let region = &mut self.regions[number];
            let own = region.backing == Backing::Nothing && !region.heap;
            if own && region.alive {
                region.alive = false;
                self.cells -= region.cells.len() as u64;
                match self.journals.last_mut() {
                    Some(journal) => journal.push(Undo::Life(number as u32)),
                    None => region.cells = Vec::new(),
                }
            }
        }
    }

    /// The bits of the value that a global was given from outside.
    pub(crate) fn given_to(&self, number: u32) -> Option<u64> {
        let global = &self.module.globals[number as usize];
        let root = self.module.function(self.root)?;
        let hidden = global.linkage == Linkage::Internal || root.parameters.iter().any(|p| p.name == global.name);
        let (_, value) = self.given.iter().find(|(name, _)| *name == global.name && !hidden)?;
        Some(*value as u64 & crate::datum::mask(8 * global.bytes.min(8) as u8))
    }

    /// The region of a global.
    pub(crate) fn global(&mut self, number: u32) -> Run<u32> {
        if let Some(region) = self.globals[number as usize] {
            return Ok(region);
        }
        let global = &self.module.globals[number as usize];
        let given = self.given_to(number);
        let known = match (&global.start, given) {
            (Start::Cells(cells), None) if global.constant => Some(cells),
            _ => None,
        };
        let backing = match known {
            Some(_) => Backing::Zero,
            None => Backing::Input { key: self.global_key(number), layout: None },
        };
        let mut region = Region::new(global.name.clone(), global.bytes, global.grain, backing);
        region.writable = known.is_none();
        if global.bytes > MOST_BYTES {
            return Err(self.fault(FaultKind::Memory, format!("`{}` is too large", global.name)));
        }
        let at = self.add(region)?;
        self.globals[number as usize] = Some(at);
        for cell in known.into_iter().flatten() {
            let datum = self.constant(cell.value)?;
            self.put(at, cell.offset, cell.bytes, datum)?;
        }
        if let Some(bits) = given {
            if !matches!(global.bytes, 1 | 2 | 4 | 8) {
                return Err(self.unsupported(format!("`{}`, which has a value, is no integer", global.name)));
            }
            self.put(at, 0, global.bytes as u8, Datum::Bits(bits))?;
        }
        Ok(at)
    }

    /// Puts something into an object where the program does not.
    pub(crate) fn put(&mut self, region: u32, offset: u64, bytes: u8, datum: Datum<D::Value>) -> Run<()> {
        let (number, index, _) = self.inside(Datum::Place(region, offset as i64), bytes)?;
        for (index, slot) in self.regions[number].changes(index, Slot { datum, bytes, float: false }) {
            self.regions[number].reach(index);
            self.regions[number].cells[index] = slot;
        }
        Ok(())
    }

    /// What a constant is in this run.
    pub(crate) fn constant(&mut self, known: Known) -> Run<Datum<D::Value>> {
        Ok(match known {
            Known::Bits(bits) => Datum::Bits(bits),
            Known::Address(global, offset) => Datum::Place(self.global(global)?, offset),
            Known::Poison => Datum::Poison,
        })
    }

    /// The name of a global as both programs know it: static variables of the compared functions have those functions' names in front.
    pub(crate) fn shared_name(&self, number: u32) -> String {
        let global = &self.module.globals[number as usize];
        match (global.linkage, global.name.strip_prefix(self.root)) {
            (Linkage::Internal, Some(rest)) if rest.starts_with('.') => format!("{STATIC}{rest}"),
            (Linkage::Internal, _) => format!("{STATIC}{}", global.name),
            _ => global.name.clone(),
        }
    }

    fn global_key(&self, number: u32) -> u64 {
        input_key(&Origin::Global(self.shared_name(number))).unwrap_or(1 << 63)
    }

    /// Copies bytes from one place to another, value by value.
    pub(crate) fn copy(&mut self, to: Datum<D::Value>, from: Datum<D::Value>, bytes: u64) -> Run<()> {
        let (Datum::Place(target, start), Datum::Place(source, first)) = (to, from) else {
            return Err(self.unsupported("a copy to or from no object"));
        };
        let mut read = Vec::new();
        let mut at = 0;
        while at < bytes {
            let place = Datum::Place(source, first.wrapping_add(at as i64));
            let slot = self.piece(place, bytes - at)?;
            read.push((at, slot));
            at += u64::from(slot.bytes);
        }
        for (at, slot) in read {
            let (number, index, _) = self.inside(Datum::Place(target, start.wrapping_add(at as i64)), slot.bytes)?;
            self.write(number, index, slot)?;
        }
        Ok(())
    }

    /// The value that starts at a place; at most so many bytes.
    fn piece(&mut self, place: Datum<D::Value>, most: u64) -> Run<Slot<D::Value>> {
        let plain = |bytes: u8, datum| Slot { datum, bytes, float: false };
        let (number, index, offset) = self.inside(place, 1.max(self.grain_at(place, most)))?;
        let region = &self.regions[number];
        let slot = region.cells[index];
        let input = matches!(region.backing, Backing::Input { .. });
        match slot.bytes {
            UNTOUCHED if input => {
                let Backing::Input { layout: Some(layout), .. } = &region.backing else {
                    return Err(self.unsupported("a copy of memory whose types are not known"));
                };
                match layout.cell(offset) {
                    Some((_, ty)) if ty.bytes() <= most => {
                        let datum = self.input(number, offset, ty)?;
                        Ok(Slot { datum, bytes: ty.bytes() as u8, float: ty.is_float() })
                    }
                    Some(_) => Err(self.unsupported("a copy of a piece of a value")),
                    // Between the fields of a structure nothing lies.
                    None => Ok(plain(region.grain, Datum::Poison)),
                }
            }
            UNTOUCHED if region.backing == Backing::Zero => Ok(plain(region.grain, Datum::Bits(0))),
            UNTOUCHED => Ok(plain(region.grain, Datum::Poison)),
            crate::region::TAIL => Err(self.unsupported("a copy of a piece of a value")),
            width if u64::from(width) <= most => Ok(slot),
            _ => Err(self.unsupported("a copy of a piece of a value")),
        }
    }

    fn grain_at(&self, place: Datum<D::Value>, most: u64) -> u8 {
        let Datum::Place(number, _) = place else { return 1 };
        let grain = self.regions[number as usize].grain;
        if u64::from(grain) <= most { grain } else { 1 }
    }

    /// Sets bytes to a known one.
    pub(crate) fn fill(&mut self, to: Datum<D::Value>, byte: u8, bytes: u64) -> Run<()> {
        let Datum::Place(number, start) = to else { return Err(self.unsupported("a fill of no object")) };
        let mut at = 0;
        while at < bytes {
            let place = Datum::Place(number, start.wrapping_add(at as i64));
            let width = self.grain_at(place, bytes - at);
            let (region, index, _) = self.inside(place, width)?;
            let bits = u64::from_ne_bytes([byte; 8]) & crate::datum::mask(8 * width);
            self.write(region, index, Slot { datum: Datum::Bits(bits), bytes: width, float: false })?;
            at += u64::from(width);
        }
        Ok(())
    }
}
