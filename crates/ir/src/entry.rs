//! How the function is called, and what the caller sees at the end.

use crate::datum::{Datum, Leaf, mask};
use crate::machine::{Machine, Pace, Run};
use crate::memory::MOST_BYTES;
use crate::module::{Kind, Linkage, Module, Parameter};
use crate::region::{Backing, Layout, Region, TAIL, UNTOUCHED};
use updates::{Argument, Division, Domain, FaultKind, Limits, Object, Program, Scalar, input_key};

/// How a function is called. What the objects' declarations say is checked where it matters: widths and kinds of cells against what the
/// code does, values of parameters against their names.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Arguments and the objects behind them.
    pub interface: &'a Program,
    /// Cells of objects whose extent the interface does not state, by object; an object without one grows as it is used.
    pub extents: &'a [Option<u64>],
    /// How loops are run.
    pub pace: Pace,
}

/// An object that the caller sees.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// What an argument points to: number of the interface's object.
    Object(u32),
    /// A variable of all files.
    Global(String),
    /// A variable of the file's own, by the name that both programs know it by.
    Static(String),
}

/// What an object holds at the end.
#[derive(Clone, Debug)]
pub struct Held<V> {
    /// Which one.
    pub place: Place,
    /// The key of its inputs.
    pub key: u64,
    /// The cells that were touched: offset, width in bytes, content.
    pub cells: Vec<(u64, u8, Leaf<V>)>,
    /// Number and type of the input of each, where a declaration says so.
    layout: Option<Layout>,
}

impl<V> Held<V> {
    /// Number and type of the input that a cell started as, if it is read as this type.
    pub fn input(&self, offset: u64, ty: Scalar) -> Option<(u64, Scalar)> {
        match &self.layout {
            Some(layout) => layout.cell(offset).filter(|(_, of)| of.bytes() == ty.bytes()),
            None => Some((offset, ty)),
        }
    }
}

/// The end of a run.
#[derive(Clone, Debug)]
pub struct Ended<V> {
    /// The objects that the caller sees.
    pub held: Vec<Held<V>>,
    /// The result, with its width in bits.
    pub result: Option<(Leaf<V>, u8)>,
    /// Divisions by data.
    pub divisions: Vec<Division<V>>,
    /// Writes to objects that the caller sees.
    pub updates: u64,
    /// Were mathematical functions called?
    pub mathematical: bool,
    /// Was memory allocated?
    pub allocates: bool,
    /// Cells touched of the interface's objects, by object.
    pub reached: Vec<u64>,
    /// Numbers of the module's globals that were touched.
    pub globals: Vec<u32>,
}

/// Executes a function of a module to its return.
pub fn execute<D: Domain>(
    module: &Module,
    name: &str,
    setting: Setting<'_>,
    domain: &mut D,
    limits: &Limits,
) -> Run<Ended<D::Value>> {
    let missing = || {
        Box::new(updates::Fault {
            kind: FaultKind::Unsupported,
            site: 0,
            detail: format!("the compiler's code has no function `{name}`"),
            instance: String::new(),
            conditional: false,
        })
    };
    let number = module.functions.iter().position(|f| f.name == name).ok_or_else(missing)?;
    let function = &module.functions[number];
    let mut machine = Machine::new(module, function, domain, limits, &setting.interface.parameters, setting.pace);
    let (arguments, regions) = machine.arguments(setting, &function.parameters)?;
    let result = machine.enter(number as u32, &arguments)?;
    machine.leave(setting, &regions, result)
}

/// Regions of the interface's objects: object, region.
type Placed = Vec<(u32, u32)>;

fn layout(object: &Object) -> Layout {
    Layout { element: object.element_bytes, fields: object.fields.iter().map(|f| (f.offset, f.ty)).collect() }
}

/// Bytes of so many cells.
fn bytes_of(object: &Object, cells: u64) -> Option<u64> {
    let per = object.fields.len() as u64;
    if cells == 0 {
        return Some(0);
    }
    if cells.is_multiple_of(per) {
        return (cells / per).checked_mul(object.element_bytes);
    }
    let last = layout(object).offset(cells - 1)?;
    Some(last + object.cell_type(cells - 1).bytes())
}

/// The smallest cell that a structure needs.
fn grain(object: &Object) -> u8 {
    let parts = object.fields.iter().flat_map(|f| [f.offset, f.ty.bytes()]).chain([object.element_bytes]);
    let zeros = parts.filter(|part| *part > 0).map(u64::trailing_zeros).min().unwrap_or(0);
    1 << zeros.min(3)
}

impl<D: Domain> Machine<'_, D> {
    fn arguments(&mut self, setting: Setting<'_>, parameters: &[Parameter]) -> Run<(Vec<Datum<D::Value>>, Placed)> {
        let interface = setting.interface;
        if interface.arguments.len() != parameters.len() {
            return Err(self.unsupported("the compiler passes the arguments otherwise"));
        }
        let (mut arguments, mut placed) = (Vec::new(), Placed::new());
        for (argument, parameter) in interface.arguments.iter().zip(parameters) {
            arguments.push(match (*argument, parameter.kind) {
                (Argument::Known(value, ty), Kind::Int(bits)) if ty.bits() == u32::from(bits) => {
                    let known = interface.parameters.iter().find(|(name, _)| *name == parameter.name);
                    if known.map(|(_, known)| *known) != Some(value) {
                        return Err(self.unsupported(format!("the value of `{}`", parameter.name)));
                    }
                    Datum::Bits(value as u64 & mask(bits))
                }
                (Argument::Value(number), Kind::Pointer) => {
                    let object = &interface.objects[number as usize];
                    if parameter.copied != Some(object.element_bytes) {
                        return Err(self.unsupported(format!("`{}` has another type than was read", object.name)));
                    }
                    Datum::Place(self.place(setting, number)?, 0)
                }
                (Argument::Value(number), kind) => {
                    let object = &interface.objects[number as usize];
                    let ([field], Some(key)) = (object.fields.as_slice(), input_key(&object.origin)) else {
                        return Err(self.unsupported(format!("the structure `{}` passed by value", object.name)));
                    };
                    let fits = match kind {
                        Kind::Int(bits) => !field.ty.is_float() && field.ty.bits() == u32::from(bits),
                        Kind::Float => field.ty == Scalar::F32,
                        Kind::Double => field.ty == Scalar::F64,
                        Kind::Pointer => false,
                    };
                    if !fits {
                        return Err(self.unsupported(format!("`{}` has another type than was read", object.name)));
                    }
                    let value = self.domain.input(key, 0, field.ty);
                    self.held(value, field.ty, kind.bits())
                }
                (Argument::Memory(number), Kind::Pointer) if parameter.copied.is_none() => {
                    let region = self.place(setting, number)?;
                    placed.push((number, region));
                    Datum::Place(region, 0)
                }
                (Argument::Unnamed, _) => Datum::Poison,
                _ => return Err(self.unsupported(format!("`{}` has another type than was read", parameter.name))),
            });
        }
        Ok((arguments, placed))
    }

    fn place(&mut self, setting: Setting<'_>, number: u32) -> Run<u32> {
        let object = &setting.interface.objects[number as usize];
        let Some(key) = input_key(&object.origin) else { return Err(self.unsupported("a pointer to nothing known")) };
        let cells = object.cells.or(setting.extents.get(number as usize).copied().flatten());
        let size = match cells {
            Some(cells) => bytes_of(object, cells),
            None => Some(MOST_BYTES),
        };
        let Some(size) = size.filter(|size| *size <= MOST_BYTES) else {
            return Err(self.fault(FaultKind::Memory, format!("`{}` is too large", object.name)));
        };
        let backing = Backing::Input { key, layout: Some(layout(object)) };
        self.add(Region::new(object.name.clone(), size, grain(object), backing))
    }

    fn leave(&mut self, setting: Setting<'_>, placed: &Placed, result: Datum<D::Value>) -> Run<Ended<D::Value>> {
        let mut held = Vec::new();
        let mut reached = vec![0; setting.interface.objects.len()];
        for (object, region) in placed {
            held.push(self.content(Place::Object(*object), *region)?);
            let (region, object_of) = (&self.regions[*region as usize], &setting.interface.objects[*object as usize]);
            let layout = layout(object_of);
            let per = layout.fields.len() as u64;
            let whole = region.reached / layout.element * per;
            let part = layout.fields.iter().filter(|(start, _)| *start < region.reached % layout.element).count();
            reached[*object as usize] = whole + part as u64;
        }
        let mut globals = Vec::new();
        for (number, region) in self.globals.clone().into_iter().enumerate() {
            let Some(region) = region else { continue };
            globals.push(number as u32);
            if !matches!(self.regions[region as usize].backing, Backing::Input { .. }) {
                continue;
            }
            let name = self.shared_name(number as u32);
            let place = match self.module.globals[number].linkage {
                Linkage::Internal => Place::Static(name),
                _ => Place::Global(name),
            };
            let mut content = self.content(place, region)?;
            // A variable that was given a value started with it.
            if let Some(bits) = self.given_to(number as u32) {
                content.cells.retain(|(_, _, leaf)| *leaf != Leaf::Bits(bits));
            }
            held.push(content);
        }
        let result = match self.root_result() {
            None => None,
            Some(kind) => Some((self.leaf(result)?, kind.bits())),
        };
        let mut divisions: Vec<Division<D::Value>> =
            std::mem::take(&mut self.divisions).into_values().flatten().collect();
        divisions.sort_by_key(|d| d.path.len());
        let (updates, mathematical, allocates) = (self.updates, self.mathematical, self.allocates);
        Ok(Ended { held, result, divisions, updates, mathematical, allocates, reached, globals })
    }

    fn root_result(&self) -> Option<Kind> {
        self.module.function(self.root).and_then(|f| f.result)
    }

    fn leaf(&self, datum: Datum<D::Value>) -> Run<Leaf<D::Value>> {
        match datum {
            Datum::Bits(bits) => Ok(Leaf::Bits(bits)),
            Datum::Value(value, ty) => Ok(Leaf::Value(value, ty)),
            Datum::Place(..) => Err(self.unsupported("an address is left for the caller")),
            other => Err(self.no_number(other)),
        }
    }

    fn content(&self, place: Place, number: u32) -> Run<Held<D::Value>> {
        let region = &self.regions[number as usize];
        let Backing::Input { key, layout } = &region.backing else {
            return Err(self.unsupported("an object that the caller does not see"));
        };
        let mut cells = Vec::new();
        for (index, slot) in region.cells.iter().enumerate() {
            let offset = index as u64 * u64::from(region.grain);
            if slot.bytes == UNTOUCHED || slot.bytes == TAIL {
                continue;
            }
            // Nothing lies between the fields of a structure.
            let between = layout.as_ref().is_some_and(|l| l.cell(offset).is_none());
            if between && slot.datum == Datum::Poison {
                continue;
            }
            cells.push((offset, slot.bytes, self.leaf(slot.datum)?));
        }
        Ok(Held { place, key: *key, cells, layout: layout.clone() })
    }
}
