//! The marginals that are kept of each row.

/// A label and its marginal.
pub type Marginal = (u32, f32);

/// Rows of marginals, as a CSR matrix has them: labels ascending in each row, all marginals above 0.
#[derive(Clone, Debug, PartialEq)]
pub struct TopMarginals {
    /// Where each row begins, and the last one ends.
    pub starts: Vec<usize>,
    pub labels: Vec<u32>,
    pub marginals: Vec<f32>,
}

impl Default for TopMarginals {
    fn default() -> TopMarginals {
        TopMarginals { starts: vec![0], labels: Vec::new(), marginals: Vec::new() }
    }
}

impl TopMarginals {
    /// Adds a row of at most `keep` of `all`: the largest, of equal ones the smaller labels. Changes the order of `all`.
    pub fn push(&mut self, all: &mut Vec<Marginal>, keep: usize) {
        all.retain(|&(_, marginal)| marginal > 0.0);
        if all.len() > keep {
            all.select_nth_unstable_by(keep, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all.truncate(keep);
        }
        all.sort_unstable_by_key(|it| it.0);
        self.labels.extend(all.iter().map(|it| it.0));
        self.marginals.extend(all.iter().map(|it| it.1));
        self.starts.push(self.labels.len());
    }

    /// The same of the marginals of all labels, in their order. `scratch` is memory to be used again.
    pub fn push_dense(&mut self, all: &[f32], keep: usize, scratch: &mut Vec<u32>) {
        // Numbers that are not negative are in the order of their bits; what is no number counts as 0.
        let bits_of = |marginal: f32| marginal.max(0.0).to_bits();
        // The least bits that are kept, and how many with just these; 0 is never kept.
        let (mut least, mut ties) = (1, usize::MAX);
        if all.len() > keep {
            scratch.clear();
            scratch.extend(all.iter().map(|&marginal| bits_of(marginal)));
            let (before, last, behind) = scratch.select_nth_unstable_by(keep - 1, |a, b| b.cmp(a));
            if *last > 0 {
                least = *last;
                let same = |bits: &&u32| **bits == least;
                ties = 1 + before.iter().filter(same).count();
                if behind.iter().filter(same).count() == 0 {
                    ties = usize::MAX;
                }
            }
        }
        let start = self.labels.len();
        self.labels.resize(start + all.len(), 0);
        self.marginals.resize(start + all.len(), 0.0);
        let (labels, marginals) = (&mut self.labels[start..], &mut self.marginals[start..]);
        let mut kept = 0;
        if ties == usize::MAX {
            for (label, &marginal) in (0..).zip(all) {
                // Written always, kept if large enough: a branch would be mispredicted often.
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
        self.labels.truncate(start + kept);
        self.marginals.truncate(start + kept);
        self.starts.push(start + kept);
    }

    /// Adds the rows of `other` behind these.
    pub fn append(&mut self, other: &TopMarginals) {
        let before = self.labels.len();
        self.starts.extend(other.starts[1..].iter().map(|at| before + at));
        self.labels.extend_from_slice(&other.labels);
        self.marginals.extend_from_slice(&other.marginals);
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn row(&self, row: usize) -> impl Iterator<Item = Marginal> {
        let entries = self.starts[row]..self.starts[row + 1];
        self.labels[entries.clone()].iter().copied().zip(self.marginals[entries].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_keeps_its_largest_and_of_equal_ones_the_smaller_labels() {
        let mut kept = TopMarginals::default();
        kept.push(&mut vec![(4, 0.25), (9, 0.5), (1, 0.25), (2, 0.0), (7, 0.25)], 3);
        kept.push(&mut vec![], 3);
        assert_eq!(kept.row(0).collect::<Vec<_>>(), [(1, 0.25), (4, 0.25), (9, 0.5)]);
        assert_eq!(kept.starts, [0, 3, 3]);
    }

    #[test]
    fn both_ways_to_add_a_row_keep_the_same() {
        let rows: [&[f32]; 4] =
            [&[0.25, 0.5, 0.0, 0.25, 0.25, 0.125], &[0.0; 6], &[0.5; 6], &[f32::NAN, 1.0, 1e-42]];
        for keep in 1..8 {
            let (mut one, mut other, mut scratch) =
                (TopMarginals::default(), TopMarginals::default(), Vec::new());
            for row in rows {
                one.push(&mut (0..).zip(row.iter().copied()).collect(), keep);
                other.push_dense(row, keep, &mut scratch);
            }
            assert_eq!(one, other, "{keep} are kept");
        }
    }

    #[test]
    fn rows_can_be_put_behind_others() {
        let mut first = TopMarginals::default();
        first.push(&mut vec![(1, 0.5)], 2);
        let second = first.clone();
        first.append(&second);
        assert_eq!((first.starts, first.labels), (vec![0, 1, 2], vec![1, 1]));
    }
}
