//! The largest marginals of each row.

use crate::sparse::{CsrBuilder, RowsView};

/// A label and its marginal.
pub type Marginal = (u32, f32);

/// Rows of marginals: labels ascending in each row, all marginals above 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopMarginals {
    kept: CsrBuilder,
}

/// Truncates `marginals` to the `keep` largest (of equal ones, those with smaller labels), with the smallest at the
/// end.
pub(super) fn keep_largest(marginals: &mut Vec<Marginal>, keep: usize) {
    marginals.select_nth_unstable_by(keep - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    marginals.truncate(keep);
}

impl TopMarginals {
    /// Adds a row with the `keep` largest of `all`; of equal ones, those with smaller labels. Reorders `all`.
    pub fn push(&mut self, all: &mut Vec<Marginal>, keep: usize) {
        all.retain(|&(_, marginal)| marginal > 0.0);
        if all.len() > keep {
            keep_largest(all, keep);
        }
        self.kept.push_entries(all);
    }

    /// Equivalent of [`TopMarginals::push`] for the marginals of all labels, in the order of labels.
    pub fn push_dense(&mut self, all: &[f32], keep: usize, scratch: &mut Vec<u32>) {
        // Nonnegative floats are ordered like their bits; NaN counts as 0.
        let bits_of = |marginal: f32| marginal.max(0.0).to_bits();
        // The smallest bits to keep (0 is never kept), and how many marginals with exactly these bits.
        let (mut least, mut ties) = (1, usize::MAX);
        if all.len() > keep {
            scratch.clear();
            scratch.extend(all.iter().map(|&marginal| bits_of(marginal)));
            let (before, last, behind) = scratch.select_nth_unstable_by(keep - 1, |a, b| b.cmp(a));
            if *last > 0 {
                least = *last;
                if behind.contains(last) {
                    ties = 1 + before.iter().filter(|&&bits| bits == least).count();
                }
            }
        }
        let CsrBuilder { starts, columns, values } = &mut self.kept;
        let start = columns.len();
        columns.resize(start + all.len(), 0);
        values.resize(start + all.len(), 0.0);
        let (labels, marginals) = (&mut columns[start..], &mut values[start..]);
        let mut kept = 0;
        if ties == usize::MAX {
            for (label, &marginal) in (0..).zip(all) {
                // Always written, kept if large enough: a branch would often be mispredicted.
                (labels[kept], marginals[kept]) = (label, marginal);
                kept += usize::from(bits_of(marginal) >= least);
            }
        } else {
            for (label, &marginal) in (0..).zip(all) {
                let bits = bits_of(marginal);
                let tie = bits == least && ties > 0;
                ties -= usize::from(tie);
                if bits > least || tie {
                    (labels[kept], marginals[kept]) = (label, marginal);
                    kept += 1;
                }
            }
        }
        columns.truncate(start + kept);
        values.truncate(start + kept);
        starts.push(start + kept);
    }

    /// Replaces each marginal by its image under an increasing function without new zeros.
    pub fn map(&mut self, with: impl Fn(f32) -> f32) {
        self.kept.values.iter_mut().for_each(|marginal| *marginal = with(*marginal));
    }

    /// Appends the rows of `other`.
    pub fn append(&mut self, other: &TopMarginals) {
        self.kept.append(&other.kept);
    }

    pub fn view(&self) -> RowsView<'_> {
        self.kept.view()
    }

    pub fn rows(&self) -> usize {
        self.view().count()
    }

    pub fn row(&self, row: usize) -> impl Iterator<Item = Marginal> {
        let (labels, marginals) = self.view().row(row);
        labels.iter().copied().zip(marginals.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_largest_and_of_equal_ones_the_smaller_labels() {
        let mut kept = TopMarginals::default();
        kept.push(&mut vec![(4, 0.25), (9, 0.5), (1, 0.25), (2, 0.0), (7, 0.25)], 3);
        kept.push(&mut vec![], 3);
        assert_eq!(kept.row(0).collect::<Vec<_>>(), [(1, 0.25), (4, 0.25), (9, 0.5)]);
        assert_eq!(kept.view().starts, [0, 3, 3]);
    }

    #[test]
    fn push_and_push_dense_agree() {
        let rows: [&[f32]; 4] =
            [&[0.25, 0.5, 0.0, 0.25, 0.25, 0.125], &[0.0; 6], &[0.5; 6], &[f32::NAN, 1.0, 1e-42]];
        for keep in 1..8 {
            let (mut one, mut other, mut scratch) =
                (TopMarginals::default(), TopMarginals::default(), Vec::new());
            for row in rows {
                one.push(&mut (0..).zip(row.iter().copied()).collect(), keep);
                other.push_dense(row, keep, &mut scratch);
            }
            assert_eq!(one, other, "keep {keep}");
        }
    }

    #[test]
    fn appends_rows() {
        let mut first = TopMarginals::default();
        first.push(&mut vec![(1, 0.5)], 2);
        let second = first.clone();
        first.append(&second);
        assert_eq!((first.view().starts, first.view().columns), (&[0, 1, 2][..], &[1, 1][..]));
    }
}
