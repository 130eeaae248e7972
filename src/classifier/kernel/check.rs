//! Whether a kernel does here what it should. Run once, before it is used: not every processor there is could
//! be tried when the kernels were written.

use super::{Kernel, PROBES, Space, Table};
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
    (1..=entries).all(|length| {
        let start = length % 5;
        same(kernel, &table, Entries::new(&narrow, &values, start, length))
            && same(kernel, &table, Entries::new(&wide, &values, start, length))
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
