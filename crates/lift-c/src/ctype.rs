//! Types with their sizes known.

use std::rc::Rc;
use updates::{Field, Scalar};

/// A type of C after the lengths of arrays are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CType {
    Void,
    Scalar(Scalar),
    Pointer(Rc<CType>),
    /// An array; without a length behind a pointer parameter.
    Array(Rc<CType>, Option<u64>),
    Struct(Rc<Layout>),
}

/// A structure.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    pub name: String,
    pub number: u32,
    pub members: Vec<(String, CType)>,
}

impl CType {
    /// Number of cells, if it has any and their number is known.
    pub fn cells(&self) -> Option<u64> {
        match self {
            CType::Scalar(_) => Some(1),
            CType::Array(element, length) => element.cells()?.checked_mul((*length)?),
            CType::Struct(layout) => layout.members.iter().try_fold(0u64, |sum, (_, ty)| sum.checked_add(ty.cells()?)),
            CType::Void | CType::Pointer(_) => None,
        }
    }

    /// Size in bytes, with padding.
    pub fn size(&self) -> Option<u64> {
        match self {
            CType::Scalar(scalar) => Some(scalar.bytes()),
            CType::Pointer(_) => Some(8),
            CType::Array(element, length) => element.size()?.checked_mul((*length)?),
            CType::Struct(layout) => {
                let mut size = 0u64;
                for (_, ty) in &layout.members {
                    size = size.checked_next_multiple_of(ty.alignment())?.checked_add(ty.size()?)?;
                }
                size.checked_next_multiple_of(self.alignment())
            }
            CType::Void => None,
        }
    }

    /// Alignment in bytes.
    pub fn alignment(&self) -> u64 {
        match self {
            CType::Scalar(scalar) => scalar.bytes(),
            CType::Pointer(_) => 8,
            CType::Array(element, _) => element.alignment(),
            CType::Struct(layout) => layout.members.iter().map(|(_, ty)| ty.alignment()).max().unwrap_or(1),
            CType::Void => 1,
        }
    }

    /// The element that an array is made of, through all dimensions, and the dimensions.
    pub fn element(&self) -> (&CType, Vec<Option<u64>>) {
        let (mut ty, mut dims) = (self, Vec::new());
        while let CType::Array(element, length) = ty {
            dims.push(*length);
            ty = element;
        }
        (ty, dims)
    }

    /// The cells of one element, or nothing if it holds pointers.
    pub fn fields(&self) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        self.add_fields("", 0, &mut fields)?;
        (!fields.is_empty()).then_some(fields)
    }

    fn add_fields(&self, prefix: &str, offset: u64, fields: &mut Vec<Field>) -> Option<()> {
        match self {
            CType::Scalar(ty) => fields.push(Field { name: prefix.to_string(), ty: *ty, offset }),
            CType::Array(element, length) => {
                for index in 0..(*length)? {
                    if fields.len() > 100_000 {
                        return None;
                    }
                    let at = offset.checked_add(element.size()?.checked_mul(index)?)?;
                    element.add_fields(&format!("{prefix}[{index}]"), at, fields)?;
                }
            }
            CType::Struct(layout) => {
                let mut at = offset;
                for (name, ty) in &layout.members {
                    at = at.checked_next_multiple_of(ty.alignment())?;
                    ty.add_fields(&format!("{prefix}.{name}"), at, fields)?;
                    at = at.checked_add(ty.size()?)?;
                }
            }
            CType::Void | CType::Pointer(_) => return None,
        }
        Some(())
    }

    /// Do pointers to these types see the same cells?
    pub fn same_cells(&self, other: &CType) -> bool {
        self.element().0 == other.element().0
    }

    /// As in C.
    pub fn name(&self) -> String {
        match self {
            CType::Void => "void".to_string(),
            CType::Scalar(scalar) => scalar.name().to_string(),
            CType::Pointer(target) => format!("{} *", target.name()),
            CType::Array(..) => {
                let (element, dims) = self.element();
                let dims: String = dims.iter().map(|d| d.map_or("[]".to_string(), |d| format!("[{d}]"))).collect();
                format!("{}{dims}", element.name())
            }
            CType::Struct(layout) => format!("struct {}", layout.name),
        }
    }
}
