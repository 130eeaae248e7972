//! The features that a unit has weights for, as bits: small enough for the first-level cache.

/// A set of features, numbered in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct FeatureSet {
    /// A bit for each of 64 features, and the number of features in the words before.
    words: Vec<(u64, u32)>,
    count: usize,
}

impl FeatureSet {
    /// Builds the set of `features`, in any order, with or without duplicates, all below `width`.
    pub fn new(features: &[u32], width: usize) -> FeatureSet {
        let mut words = vec![(0u64, 0u32); width.div_ceil(64)];
        for &feature in features {
            words[feature as usize / 64].0 |= 1 << (feature % 64);
        }
        let mut count = 0;
        for (bits, before) in &mut words {
            *before = count;
            count += bits.count_ones();
        }
        FeatureSet { words, count: count as usize }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of a feature within the set.
    #[inline(always)]
    pub fn index_of(&self, feature: u32) -> Option<u32> {
        let (bits, before) = self.words[feature as usize / 64];
        let bit = feature % 64;
        let below = bits & ((1 << bit) - 1);
        ((bits >> bit) & 1 == 1).then(|| before + below.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_numbered_in_ascending_order() {
        let set = FeatureSet::new(&[200, 3, 63, 64, 3], 201);
        let numbers: Vec<_> = [3, 63, 64, 200].iter().map(|&feature| set.index_of(feature)).collect();
        assert_eq!(numbers, [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!((set.index_of(0), set.index_of(65), set.count()), (None, None, 4));
    }
}
