//! Line tables.

use super::Addresses;
use super::sections::Reader;
use crate::container::Place;
use program::SourceLine;
use rustc_hash::FxHashMap;

/// Rows of all line tables of a file.
const MAX_ROWS: usize = 1 << 23;

/// Lines of a file's code.
#[derive(Default)]
pub(crate) struct Lines {
    files: Vec<String>,
    file_ids: FxHashMap<String, u32>,
    /// First place, then file and line; line 0 ends a sequence.
    rows: Vec<(Place, u32, u32)>,
}

impl Lines {
    /// Adds the line table of a unit.
    pub fn read(
        &mut self,
        dwarf: &gimli::Dwarf<Reader<'_>>,
        unit: &gimli::Unit<Reader<'_>>,
        addresses: Addresses,
    ) -> gimli::Result<()> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        let mut names: FxHashMap<u64, u32> = FxHashMap::default();
        let mut rows = program.rows();
        while let Some((header, row)) = rows.next_row()? {
            let Some(place) = addresses.place(row.address()) else { continue };
            if self.rows.len() >= MAX_ROWS {
                return Ok(());
            }
            if row.end_sequence() {
                self.rows.push((place, 0, 0));
                continue;
            }
            let file = match names.get(&row.file_index()) {
                Some(file) => *file,
                None => {
                    let path = match row.file(header) {
                        Some(file) => dwarf.attr_string(unit, file.path_name())?.to_string_lossy().into_owned(),
                        None => String::new(),
                    };
                    let name = path.rsplit('/').next().unwrap_or("").to_string();
                    let file = self.file(name);
                    names.insert(row.file_index(), file);
                    file
                }
            };
            let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0));
            self.rows.push((place, file, line));
        }
        Ok(())
    }

    fn file(&mut self, name: String) -> u32 {
        let next = self.files.len() as u32;
        *self.file_ids.entry(name.clone()).or_insert_with(|| {
            self.files.push(name);
            next
        })
    }

    /// Brings the rows into the order of their places.
    pub fn finish(&mut self) {
        // At one place the last row counts, and an end of a sequence counts least: stable order keeps the rest.
        self.rows.sort_by_key(|(place, _, line)| (*place, *line != 0));
        self.rows.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                *earlier = *later;
            }
            same
        });
    }

    /// The line of a place.
    pub fn find(&self, place: Place) -> Option<SourceLine> {
        let after = self.rows.partition_point(|(start, _, _)| *start <= place);
        let row = self.rows[..after].last()?;
        if row.0.section != place.section { None } else { self.line(row) }
    }

    fn line(&self, (_, file, line): &(Place, u32, u32)) -> Option<SourceLine> {
        let file = self.files.get(*file as usize).filter(|_| *line != 0)?;
        Some(SourceLine { file: file.clone(), line: *line })
    }

    /// Lines from a place on, for that many bytes, by distance from the place.
    pub fn range(&self, start: Place, size: u64) -> Vec<(u64, SourceLine)> {
        let mut out: Vec<(u64, SourceLine)> = self.find(start).map(|line| (0, line)).into_iter().collect();
        let first = self.rows.partition_point(|(place, _, _)| *place <= start);
        for row in &self.rows[first..] {
            if row.0.section != start.section || row.0.offset - start.offset >= size {
                break;
            }
            if let Some(line) = self.line(row)
                && out.last().is_none_or(|(_, known)| *known != line)
            {
                out.push((row.0.offset - start.offset, line));
            }
        }
        out
    }
}
