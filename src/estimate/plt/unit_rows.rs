//! The problem of a unit: its rows, with the features that occur there, and which of them are whose.

use super::positives::Positives;
use super::solver::{LaneTargets, LocalRows};
use super::tree::Tree;
use super::tree_plan::TreePlan;
use super::units::Unit;
use crate::sparse::RowsView;

/// All that trees are learnt from.
pub(super) struct TrainingSet<'d> {
    /// Values are normalised: each row has length 1.
    pub features: RowsView<'d>,
    pub width: usize,
    pub labels: RowsView<'d>,
    pub positives: Positives,
}

/// The rows of a unit.
pub(super) struct UnitRows {
    pub local: LocalRows,
    /// The feature that each local column is.
    pub features: Vec<u32>,
    /// The places below the root that each row has, from 0, and where those of each row end.
    places: Vec<u32>,
    ends: Vec<usize>,
}

/// Space that is used again for the next unit.
#[derive(Default)]
pub(super) struct ColumnScratch {
    /// How often each feature occurs, then its local column.
    columns: Vec<u32>,
}

impl UnitRows {
    /// Of the node that is the root of a unit; `rows` are those that have a label below it, or all of them.
    pub fn gather(
        training_set: &TrainingSet<'_>,
        planned: &TreePlan,
        root: usize,
        rows: &[u32],
        scratch: &mut ColumnScratch,
    ) -> UnitRows {
        let TreePlan { tree, position_of, .. } = planned;
        let below = &tree.nodes[root].labels;
        let columns = &mut scratch.columns;
        columns.resize(training_set.width, 0);
        let mut features = Vec::new();
        let mut entries = 0;
        for &row in rows {
            let (of_row, _) = training_set.features.row(row as usize);
            entries += of_row.len();
            for &feature in of_row {
                let times = &mut columns[feature as usize];
                if *times == 0 {
                    features.push(feature);
                }
                *times += 1;
            }
        }
        // Frequent ones side by side stay in the cache together.
        features.sort_unstable_by_key(|&feature| (u32::MAX - columns[feature as usize], feature));
        features.iter().zip(0..).for_each(|(&feature, column)| columns[feature as usize] = column);
        let mut gathered = UnitRows {
            local: LocalRows {
                starts: Vec::with_capacity(rows.len() + 1),
                columns: Vec::with_capacity(entries),
                values: Vec::with_capacity(entries),
                width: features.len(),
            },
            features,
            places: Vec::new(),
            ends: Vec::with_capacity(rows.len()),
        };
        let local = &mut gathered.local;
        local.starts.push(0);
        for &row in rows {
            let (of_row, values) = training_set.features.row(row as usize);
            local.columns.extend(of_row.iter().map(|&feature| columns[feature as usize]));
            local.values.extend_from_slice(values);
            local.starts.push(local.columns.len());
            let places =
                training_set.labels.row(row as usize).0.iter().map(|&label| position_of[label as usize]);
            let places = places.filter(|&place| below.contains(&(place as usize)));
            gathered.places.extend(places.map(|place| place - below.start as u32));
            gathered.ends.push(gathered.places.len());
        }
        gathered.features.iter().for_each(|&feature| columns[feature as usize] = 0);
        gathered
    }

    /// Whose instance each row is, for some neighbouring nodes of the unit, which become the lanes. Where nodes of
    /// several levels are in the unit, all of them.
    pub fn targets(&self, tree: &Tree, unit: &Unit, nodes: &[usize]) -> Vec<LaneTargets> {
        let below = tree.nodes[unit.root].labels.clone();
        let mut lanes_of = vec![0u32; below.len()];
        let mut always = 0u32;
        // Lanes that are children of another lane, and that one.
        let mut inner = Vec::new();
        for (lane, &node) in nodes.iter().enumerate() {
            for place in tree.nodes[node].labels.clone() {
                lanes_of[place - below.start] |= 1 << lane;
            }
            let parent = tree.nodes[node].parent;
            match nodes.iter().position(|&other| parent == Some(other)) {
                Some(above) => inner.push((lane, above)),
                None => always |= 1 << lane,
            }
        }
        let mut start = 0;
        let targets = self.ends.iter().map(|&end| {
            let places = &self.places[start..end];
            start = end;
            let positive = places.iter().fold(0, |lanes, &place| lanes | lanes_of[place as usize]);
            let inner = inner.iter().map(|&(lane, above)| ((positive >> above) & 1) << lane);
            LaneTargets { positive, included: inner.fold(always, |lanes, lane| lanes | lane) }
        });
        targets.collect()
    }

    /// Whether each row has any label below the root, as one lane.
    pub fn any_label_targets(&self) -> Vec<LaneTargets> {
        let mut start = 0;
        let targets = self.ends.iter().map(|&end| {
            let any = u32::from(end > start);
            start = end;
            LaneTargets { positive: any, included: 1 }
        });
        targets.collect()
    }
}
