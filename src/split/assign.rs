//! The assignment of rows to parts.

use rayon::prelude::*;

use super::source::SplitSource;
use super::stratify::stratify;
use super::{Method, Split};
use crate::error::Result;
use crate::memory::check_memory;
use crate::random::{Purpose, bits};
use crate::sparse::Csr;
use crate::world::World;

/// The part of every row and the size of every part, on all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub parts: Vec<u8>,
    pub sizes: Vec<u64>,
}

impl Assignment {
    /// Returns the rows of a part, ascending.
    pub fn rows_of(&self, part: usize) -> impl Iterator<Item = u64> + '_ {
        (0u64..).zip(&self.parts).filter(move |(_, found)| usize::from(**found) == part).map(|(row, _)| row)
    }
}

impl Split {
    /// Assigns the rows of a file on rank 0, which reads all labels for a stratified split. Collective.
    pub fn assign(&self, world: &World, source: &SplitSource) -> Result<Assignment> {
        let sizes = world.agree(self.fractions.sizes(source.rows()))?;
        // A key and a number for each row to sort them; labels by row and by label.
        let bytes = if world.is_root() {
            source.rows() * 24 + 16 * self.entries_to_read(source)
        } else {
            source.rows()
        };
        check_memory(world, bytes)?;
        let mut parts = Vec::new();
        world.on_root(|| {
            let labels = match self.method {
                Method::Plain => None,
                Method::Stratified => Some(source.read_all_labels()?),
            };
            parts = self.assign_rows(source.rows(), labels.as_ref(), &sizes);
            Ok(())
        })?;
        world.broadcast(&mut parts);
        Ok(Assignment { parts, sizes })
    }

    /// Returns the part of each of `rows` rows; stratified if there are `labels`.
    pub fn assign_rows(&self, rows: u64, labels: Option<&Csr>, sizes: &[u64]) -> Vec<u8> {
        let order = random_order(rows, self.seed);
        if let Some(labels) = labels {
            return stratify(labels, &order, sizes);
        }
        let mut parts = vec![0; rows as usize];
        let mut rest = order.as_slice();
        for (part, &size) in sizes.iter().enumerate() {
            let (taken, after) = rest.split_at(size as usize);
            taken.iter().for_each(|&row| parts[row as usize] = part as u8);
            rest = after;
        }
        parts
    }

    fn entries_to_read(&self, source: &SplitSource) -> u64 {
        match self.method {
            Method::Plain => 0,
            Method::Stratified => source.label_entries(),
        }
    }
}

/// Returns all rows in an order that depends on the seed only.
pub fn random_order(rows: u64, seed: u64) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> = (0..rows as u32)
        .into_par_iter()
        .map(|row| (bits(seed, Purpose::Split, 0, row.into()), row))
        .collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}
