//! Labels sorted by decreasing counts.

/// Labels in buckets of equal counts (Batagelj and Zaversnik 2003). Decrementing a count and finding the smallest count above 0
/// take constant time.
pub(super) struct LabelBuckets {
    counts: Vec<u32>,
    /// Labels, by ascending count.
    sorted: Vec<u32>,
    /// Position of each label in `sorted`.
    places: Vec<u32>,
    /// Position in `sorted` of the first label of each count, up to the largest count plus 1.
    starts: Vec<u32>,
}

impl LabelBuckets {
    pub fn new(counts: Vec<u32>) -> LabelBuckets {
        let largest = counts.iter().copied().max().unwrap_or(0) as usize;
        let mut starts = vec![0u32; largest + 2];
        for &count in &counts {
            starts[count as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let (mut sorted, mut places) = (vec![0; counts.len()], vec![0; counts.len()]);
        for (label, &count) in counts.iter().enumerate() {
            let place = &mut next[count as usize];
            sorted[*place as usize] = label as u32;
            places[label] = *place;
            *place += 1;
        }
        LabelBuckets { counts, sorted, places, starts }
    }

    /// Returns a label with the fewest rows, but at least one.
    pub fn rarest(&self) -> Option<u32> {
        let first_above_zero = *self.starts.get(1)?;
        self.sorted.get(first_above_zero as usize).copied()
    }

    /// Decrements the count of a label.
    ///
    /// # Panics
    /// If it is 0.
    pub fn remove_row(&mut self, label: u32) {
        let count = self.counts[label as usize] as usize;
        assert!(count > 0, "label {label} has a row");
        // The label swaps with the first of its bucket, which then starts one later.
        let first = self.starts[count];
        let (place, other) = (self.places[label as usize], self.sorted[first as usize]);
        self.sorted.swap(place as usize, first as usize);
        (self.places[label as usize], self.places[other as usize]) = (first, place);
        self.starts[count] += 1;
        self.counts[label as usize] -= 1;
    }
}
