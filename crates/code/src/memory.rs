//! Memory: regions far apart, byte by byte.

use crate::lane::{Content, Lane, Lanes, Value, push};

/// Bits of an address inside its region.
const SHIFT: u32 = 36;
/// The stack's region.
pub(crate) const STACK: usize = 2047;
/// Where the stack ends; it grows downward from here, as it is used.
pub(crate) const STACK_END: u64 = ((STACK as u64) << SHIFT) + (1 << 32);
/// Size of the stack at the start.
pub(crate) const STACK_BYTES: u64 = 1 << 16;
/// Most that the stack may grow to: what systems give a program.
const MOST_STACK: u64 = 8 << 20;
/// What is in a place that nobody set.
pub(crate) const GARBAGE: &str = "a register or stack slot that nobody set";

/// A region.
#[derive(Clone, Debug)]
pub(crate) struct Region<V> {
    pub name: String,
    /// Address of the first byte.
    pub base: u64,
    /// The bytes, as lanes of eight bits.
    pub bytes: Vec<Content<V>>,
    pub writable: bool,
}

/// All regions, by the high bits of their addresses.
#[derive(Clone, Debug)]
pub(crate) struct Memory<V> {
    regions: Vec<Option<Region<V>>>,
}

/// Why an access is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// Outside every region; the nearest one's name.
    Outside(String),
    /// The stack is too small.
    Stack,
    /// Not writable.
    Constant(String),
    /// Bits that are no whole bytes.
    Torn,
}

/// The first address of a region.
pub(crate) fn base_of(number: usize) -> u64 {
    (number as u64) << SHIFT
}

impl<V: Copy + Eq> Memory<V> {
    pub fn new() -> Memory<V> {
        Memory { regions: (0..=STACK).map(|_| None).collect() }
    }

    /// Puts a region at its place; false if there is no room.
    pub fn add(&mut self, number: usize, region: Region<V>) -> bool {
        match self.regions.get_mut(number) {
            Some(free @ None) if region.bytes.len() < 1 << (SHIFT - 1) => {
                *free = Some(region);
                true
            }
            _ => false,
        }
    }

    pub fn region(&self, number: usize) -> Option<&Region<V>> {
        self.regions.get(number)?.as_ref()
    }

    pub fn region_mut(&mut self, number: usize) -> Option<&mut Region<V>> {
        self.regions.get_mut(number)?.as_mut()
    }

    /// The region of an address, whatever its extent.
    pub fn number_of(address: u64) -> usize {
        (address >> SHIFT) as usize
    }

    /// Region and offset of an access.
    fn find(&self, address: u64, count: u64) -> Result<(usize, usize), Refusal> {
        let number = Self::number_of(address);
        let Some(region) = self.region(number) else { return Err(Refusal::Outside("any object".to_string())) };
        match address.checked_sub(region.base) {
            Some(offset) if offset.checked_add(count).is_some_and(|end| end <= region.bytes.len() as u64) => {
                Ok((number, offset as usize))
            }
            _ => Err(Refusal::Outside(format!("`{}`", region.name))),
        }
    }

    /// The first address of a region's bytes.
    pub fn base(&self, number: usize) -> u64 {
        self.region(number).map_or(u64::MAX, |region| region.base)
    }

    /// Forgets all that was written.
    pub fn lose(&mut self, why: &'static str) {
        for region in self.regions.iter_mut().flatten().filter(|region| region.writable) {
            region.bytes.fill(Content::Lost(why));
        }
    }

    /// Lets the stack grow down to an address, if it is one of the stack's.
    pub fn reach(&mut self, address: u64) -> Result<(), Refusal> {
        let Some(stack) = self.region_mut(STACK) else { return Ok(()) };
        if !(base_of(STACK)..stack.base).contains(&address) {
            return Ok(());
        }
        let (old, needed) = (stack.bytes.len() as u64, STACK_END - address);
        if needed > MOST_STACK {
            return Err(Refusal::Stack);
        }
        let new = needed.max(2 * old).min(MOST_STACK);
        let mut bytes = vec![Content::Lost(GARBAGE); (new - old) as usize];
        bytes.append(&mut stack.bytes);
        (stack.base, stack.bytes) = (STACK_END - new, bytes);
        Ok(())
    }

    pub fn load(&mut self, address: u64, count: u64) -> Result<Value<V>, Refusal> {
        self.reach(address)?;
        let (number, offset) = self.find(address, count)?;
        let mut lanes = Lanes::new();
        if let Some(region) = self.region(number) {
            for content in &region.bytes[offset..offset + count as usize] {
                push(&mut lanes, Lane { width: 8, content: *content });
            }
        }
        Ok(Value::from_lanes(lanes))
    }

    pub fn store(&mut self, address: u64, value: &Value<V>) -> Result<usize, Refusal> {
        let mut bytes = Vec::new();
        for lane in value.lanes() {
            if lane.width % 8 != 0 {
                return Err(Refusal::Torn);
            }
            bytes.extend((0..lane.width / 8).map(|i| lane.slice(8 * i, 8).content));
        }
        self.reach(address)?;
        let (number, offset) = self.find(address, bytes.len() as u64)?;
        match self.region_mut(number) {
            Some(region) if region.writable => {
                region.bytes[offset..offset + bytes.len()].copy_from_slice(&bytes);
                Ok(number)
            }
            Some(region) => Err(Refusal::Constant(region.name.clone())),
            None => Err(Refusal::Torn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use updates::Scalar;

    fn memory() -> Memory<u32> {
        let mut memory = Memory::new();
        let region = |number, name: &str, writable| Region {
            name: name.to_string(),
            base: base_of(number) + 8,
            bytes: vec![Content::Known(0); 16],
            writable,
        };
        assert!(memory.add(1, region(1, "a", true)));
        assert!(memory.add(2, region(2, "table", false)));
        assert!(!memory.add(1, region(1, "again", true)), "a place is taken once");
        memory
    }

    fn double(value: u32) -> Value<u32> {
        let content = Content::Part { value, ty: Scalar::F64, low: 0 };
        Value::from_lanes([Lane { width: 64, content }].into_iter().collect())
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let mut memory = memory();
        let at = base_of(1) + 8;
        assert_eq!(memory.store(at, &double(3)), Ok(1));
        assert_eq!(memory.load(at, 8), Ok(double(3)));
        let mixed = memory.load(at + 4, 8).expect("inside").lanes();
        assert_eq!(mixed.len(), 2, "the upper half of the value, then zeros");
        assert_eq!(memory.store(at + 4, &double(4)), Ok(1));
        assert_ne!(memory.load(at, 8), Ok(double(3)), "half of it was overwritten");
    }

    #[test]
    fn the_stack_grows_down_to_a_limit() {
        let mut memory = memory();
        let bytes = vec![Content::Lost(GARBAGE); STACK_BYTES as usize];
        let base = STACK_END - STACK_BYTES;
        assert!(memory.add(STACK, Region { name: "the stack".to_string(), base, bytes, writable: true }));
        assert_eq!(memory.store(STACK_END - 8, &double(1)), Ok(STACK));
        assert_eq!(memory.store(base - 8, &double(2)), Ok(STACK));
        assert_eq!(memory.store(STACK_END - MOST_STACK, &double(3)), Ok(STACK));
        let kept = [(8, 1), (STACK_BYTES + 8, 2), (MOST_STACK, 3)];
        for (below, value) in kept {
            assert_eq!(memory.load(STACK_END - below, 8), Ok(double(value)));
        }
        assert_eq!(memory.store(STACK_END - MOST_STACK - 8, &double(4)), Err(Refusal::Stack));
        assert_eq!(memory.store(STACK_END, &double(4)), Err(Refusal::Outside("`the stack`".to_string())));
    }

    #[test]
    fn accesses_stay_inside_their_region() {
        let mut memory = memory();
        let at = base_of(1) + 8;
        let outside = Refusal::Outside("`a`".to_string());
        assert_eq!(memory.load(at + 9, 8), Err(outside.clone()));
        assert_eq!(memory.load(at - 1, 8), Err(outside.clone()));
        assert_eq!(memory.store(at + 16, &double(1)), Err(outside));
        assert_eq!(memory.load(base_of(3), 1), Err(Refusal::Outside("any object".to_string())));
        assert_eq!(memory.load(u64::MAX, 8), Err(Refusal::Outside("any object".to_string())));
        assert_eq!(memory.store(base_of(2) + 8, &double(1)), Err(Refusal::Constant("table".to_string())));
        assert_eq!(memory.store(at, &Value::lost(12, "bits")), Err(Refusal::Torn));
    }
}
