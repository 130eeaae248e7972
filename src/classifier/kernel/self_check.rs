//! A check of a kernel before its first use, because not every processor could be tried during development.

use super::{CoefficientTable, GatheredEntries, Kernel, RowScratch, RowsScratch, ScoredRow, THRESHOLDS};
use crate::shard::{ColumnCoding, EntryColumns, PADDING, Row};

/// Compares a kernel with the scalar one on rows of all lengths around those of vectors, with own and with shared codes.
pub(super) fn matches_scalar(kernel: Kernel) -> bool {
    let number = |at: usize| ((at * 2_654_435_761) % 1_000_003) as f32 / 1_000_003.0;
    let entries = 3 * PADDING;
    let values: Vec<f32> = (0..2 * entries).map(|at| number(at + 1000)).collect();
    [(500, 7), (ColumnCoding::CODES + 500, 2731)].into_iter().all(|(labels, stride)| {
        let columns: Vec<u32> = (0..2 * entries).map(|at| (at * stride % labels) as u32).collect();
        let columns = EntryColumns::from_columns(labels, &columns);
        let mut table = CoefficientTable::new(labels, columns.coding());
        // Without other threads, which may be waiting for this check.
        table.fill_on_this_thread(labels, |label| (2.0 * number(label) - 0.5, number(label + labels) - 0.5));
        (1..=entries)
            .all(|length| same_results(kernel, &table, Row::new(&columns, &values, length % 5, length)))
    })
}

fn same_results(kernel: Kernel, table: &CoefficientTable, row: Row<'_>) -> bool {
    let (mut space, mut plain) = (RowScratch::default(), RowScratch::default());
    let length = row.len();
    [1, 3, 5, 8, 12, 20].into_iter().filter(|&k| k < length).all(|k| {
        let bound = kernel.score(table, row, k, &mut space);
        Kernel::Scalar.score(table, row, k, &mut plain);
        // Kernels may round differently.
        let close = (0..length as u32).all(|position| {
            let (found, wanted) = (space.score(position), plain.score(position));
            found >= wanted.next_down() && found <= wanted.next_up()
        });
        // Padding would reach minus infinity.
        let bound = bound.max(f32::MIN);
        let thresholds: [f32; THRESHOLDS] =
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
        close
            && counts.map(Some) == found
            && bounds_hold(kernel, table, row, &space, (k, bound))
            && best_agree(kernel, table, row, k)
    })
}

/// Whether a kernel finds the same best entries as the scalar one.
fn best_agree(kernel: Kernel, table: &CoefficientTable, row: Row<'_>, k: usize) -> bool {
    let own = |kernel: Kernel| {
        let mut best = None;
        kernel.top_k_own_codes(table, [row].into_iter(), k, &mut RowScratch::default(), |_, space, found| {
            best = matches!(found, ScoredRow::Best(_)).then(|| space.best(k).to_vec());
        });
        best
    };
    let shared = |kernel: Kernel| {
        let mut best = None;
        kernel.top_k_shared_codes(
            table,
            [row].into_iter(),
            k,
            &mut RowsScratch::default(),
            |_, short_list, least| {
                best = least.map(|_| short_list.best(k).map(|entry| entry.0.0).collect::<Vec<u32>>());
            },
        );
        best
    };
    let best = |kernel: Kernel| match () {
        () if table.supports_own_codes(k) => own(kernel),
        () if table.supports_shared_codes(k) => shared(kernel),
        () => None,
    };
    let same = |(one, other): (Vec<u32>, Vec<u32>)| one == other && one.is_sorted();
    // Only one of them may see a tie.
    best(kernel).zip(best(Kernel::Scalar)).is_none_or(same)
}

/// Whether no single score is more than a step above its score or bound, and at least `k` single scores reach `bound`.
fn bounds_hold(
    kernel: Kernel,
    table: &CoefficientTable,
    row: Row<'_>,
    space: &RowScratch,
    (k, bound): (usize, f32),
) -> bool {
    let all: Vec<u32> = (0..row.len() as u32).collect();
    let mut gathered = GatheredEntries::default();
    gathered.gather(row, &all);
    gathered.score(kernel, table, k);
    // Rows may be rounded differently.
    let reached = all.iter().filter(|&&at| gathered.single_score(at) >= bound.next_down()).count();
    gathered.pick(kernel, bound.next_down());
    let found = gathered.picked().len() == reached && reached >= k;
    found && all.iter().all(|&at| gathered.single_score(at) <= space.score(at).next_up())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kernels_of_this_processor_match_the_scalar_one() {
        for kernel in Kernel::available() {
            assert!(matches_scalar(kernel), "{}", kernel.name());
        }
    }
}
