//! Whether a kernel does here what it should. Run once, before it is used: not every processor there is could
//! be tried when the kernels were written.

use super::{Kernel, PROBES, Space, Table, round_both};
use crate::memory::Zeroed;
use crate::shard::{Column, Entries, PADDING};

/// Compares a kernel with the scalar one on some rows of every length around that of a vector.
pub(super) fn works(kernel: Kernel) -> bool {
    let labels = 500;
    let number = |at: usize| ((at * 2_654_435_761) % 1_000_003) as f32 / 1_000_003.0;
    let table = Table::new(labels, |label| (2.0 * number(label) - 0.5, number(label + labels) - 0.5));
    let entries = 3 * PADDING;
    let narrow: Vec<u16> = (0..2 * entries).map(|at| (at * 7 % labels) as u16).collect();
    let wide: Vec<u32> = narrow.iter().map(|&column| column.into()).collect();
    let values: Vec<f32> = (0..2 * entries).map(|at| number(at + 2 * labels)).collect();
    // As if they were very many. By one thread: others may be waiting for this check.
    let mut rounded = Table::new(labels, |label| table.pair(label));
    rounded.rounded = Zeroed::new(labels);
    rounded.rounded.iter_mut().zip(rounded.words.iter()).for_each(|(to, &word)| *to = round_both(word));
    (1..=entries).all(|length| {
        let start = length % 5;
        let wide = Entries::new(&wide, &values, start, length);
        let narrow = Entries::new(&narrow, &values, start, length);
        same(kernel, &table, narrow) && same(kernel, &table, wide) && bounds(kernel, &rounded, wide)
    })
}

/// Whether bounds are none below the scores, and what k of them should reach is reached by k scores.
fn bounds<C: Column>(kernel: Kernel, table: &Table, row: Entries<'_, C>) -> bool {
    let (mut space, mut plain) = (Space::default(), Space::default());
    [1, 5, 8].into_iter().filter(|&k| k < row.len()).all(|k| {
        let Some(bound) = kernel.bound(table, row, k, &mut space) else { return true };
        Kernel::Scalar.score(table, row, k, &mut plain);
        let above = (0..row.len() as u32).all(|at| space.score(at) >= plain.score(at).next_down());
        above && Kernel::Scalar.count(&plain, row.len(), [bound.max(f32::MIN); PROBES])[0] >= k
    })
}

fn same<C: Column>(kernel: Kernel, table: &Table, row: Entries<'_, C>) -> bool {
    let (mut space, mut plain) = (Space::default(), Space::default());
    let length = row.len();
    [1, 3, 5, 8, 20].into_iter().filter(|&k| k < length).all(|k| {
        let bound = kernel.score(table, row, k, &mut space);
        Kernel::Scalar.score(table, row, k, &mut plain);
        // The last digit may differ, no more.
        let close = (0..length as u32).all(|position| {
            let (found, wanted) = (space.score(position), plain.score(position));
            found >= wanted.next_down() && found <= wanted.next_up()
        });
        // Without a bound, any number: padding would reach minus infinity.
        let bound = bound.max(f32::MIN);
        let thresholds: [f32; PROBES] =
            std::array::from_fn(
                |probe| if probe == 0 { bound } else { plain.score((probe % length) as u32) },
            );
        let counts = kernel.count(&space, length, thresholds);
        let found = thresholds.map(|threshold| {
            kernel.find(&mut space, length, threshold);
            let positions = space.positions().to_vec();
            Kernel::Scalar.find(&mut space, length, threshold);
            (positions == space.positions()).then_some(positions.len())
        });
        close && counts[0] >= k && counts.map(Some) == found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kernels_of_this_processor_work() {
        for kernel in Kernel::available() {
            assert!(works(kernel), "{}", kernel.name());
        }
    }
}
