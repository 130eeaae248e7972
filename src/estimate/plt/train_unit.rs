//! Training of one unit: its rows, restricted to the features that occur in them, and the targets of its nodes.

use rayon::prelude::*;

use super::node_models::NodeModels;
use super::options::TreeOptions;
use super::solver::{LaneTargets, solve};
use super::training_set::TrainingSet;
use super::tree::{Tree, UNIT_LANES, Unit};
use crate::heartbeat::beat;
use crate::sparse::CsrBuilder;

/// The rows of a unit.
pub(super) struct UnitRows {
    /// The rows with columns numbered by frequency, not ascending.
    local: CsrBuilder,
    /// Feature of each local column.
    features: Vec<u32>,
    /// For each row the positions of its labels below the root of the unit, from 0; and where each row starts.
    positions: Vec<u32>,
    starts: Vec<usize>,
}

/// Buffer reused from unit to unit: the number of entries of each feature, then its local column.
pub(super) type ColumnBuffer = Vec<u32>;

impl UnitRows {
    /// Gathers `rows` of the unit below `root`: those with a label there, or all.
    pub fn gather(
        training_set: &TrainingSet<'_>,
        tree: &Tree,
        root: usize,
        rows: &[u32],
        columns: &mut ColumnBuffer,
    ) -> UnitRows {
        let below = &tree.nodes[root].labels;
        columns.resize(training_set.width, 0);
        let mut features = Vec::new();
        let mut entries = 0;
        for &row in rows {
            let (row_features, _) = training_set.features.row(row as usize);
            entries += row_features.len();
            for &feature in row_features {
                let times = &mut columns[feature as usize];
                if *times == 0 {
                    features.push(feature);
                }
                *times += 1;
            }
        }
        // Consecutive frequent columns share cache lines.
        features.sort_unstable_by_key(|&feature| (u32::MAX - columns[feature as usize], feature));
        features.iter().zip(0..).for_each(|(&feature, column)| columns[feature as usize] = column);
        let mut local = CsrBuilder::with_capacity(rows.len(), entries);
        let (mut positions, mut starts) = (Vec::new(), vec![0]);
        for &row in rows {
            let (row_features, values) = training_set.features.row(row as usize);
            local.columns.extend(row_features.iter().map(|&feature| columns[feature as usize]));
            local.values.extend_from_slice(values);
            local.starts.push(local.columns.len());
            let labels = training_set.labels.row(row as usize).0.iter();
            let of_row = labels.map(|&label| tree.positions[label as usize]);
            let of_row = of_row.filter(|&position| below.contains(&(position as usize)));
            positions.extend(of_row.map(|position| position - below.start as u32));
            starts.push(positions.len());
        }
        features.iter().for_each(|&feature| columns[feature as usize] = 0);
        UnitRows { local, features, positions, starts }
    }

    fn positions(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|row| &self.positions[row[0]..row[1]])
    }

    /// Trains the nodes of a unit. `number` selects the random draws of the unit.
    pub fn train(&self, tree: &Tree, unit: &Unit, options: &TreeOptions, number: u64) -> NodeModels {
        let train_part = |(part, nodes): (usize, &[usize])| {
            let targets = self.targets(tree, unit, nodes);
            let models = self.train_lanes(&targets, nodes.len(), options, number << 24 | part as u64);
            beat();
            models
        };
        let parts: Vec<NodeModels> = unit.nodes.par_chunks(UNIT_LANES).enumerate().map(train_part).collect();
        let mut models = NodeModels::default();
        parts.iter().for_each(|part| models.append(part));
        models
    }

    /// Trains the root of a tree: whether a row has any label.
    pub fn train_root(&self, options: &TreeOptions, number: u64) -> NodeModels {
        let any = |positions: &[u32]| LaneTargets { positive: u32::from(!positions.is_empty()), included: 1 };
        let targets: Vec<LaneTargets> = self.positions().map(any).collect();
        self.train_lanes(&targets, 1, options, number << 24)
    }

    /// Returns the targets of some nodes of a unit, which become the lanes: all of its nodes if they are of several
    /// levels, otherwise consecutive ones.
    fn targets(&self, tree: &Tree, unit: &Unit, nodes: &[usize]) -> Vec<LaneTargets> {
        let below = &tree.nodes[unit.root].labels;
        let mut lanes_of = vec![0u32; below.len()];
        let mut always = 0u32;
        // Lanes whose parent is another lane, and that lane.
        let mut inner = Vec::new();
        for (lane, &node) in nodes.iter().enumerate() {
            for position in tree.nodes[node].labels.clone() {
                lanes_of[position - below.start] |= 1 << lane;
            }
            let parent = tree.nodes[node].parent;
            match nodes.iter().position(|&other| parent == Some(other)) {
                Some(above) => inner.push((lane, above)),
                None => always |= 1 << lane,
            }
        }
        let target = |positions: &[u32]| {
            let positive = positions.iter().fold(0, |lanes, &position| lanes | lanes_of[position as usize]);
            let inner = inner.iter().map(|&(lane, above)| ((positive >> above) & 1) << lane);
            LaneTargets { positive, included: inner.fold(always, |lanes, lane| lanes | lane) }
        };
        self.positions().map(target).collect()
    }

    /// Trains `lanes` nodes in the narrowest vector that fits them.
    fn train_lanes(
        &self,
        targets: &[LaneTargets],
        lanes: usize,
        options: &TreeOptions,
        problem: u64,
    ) -> NodeModels {
        match lanes {
            0..=4 => self.train_vector::<4>(targets, lanes, options, problem),
            5..=8 => self.train_vector::<8>(targets, lanes, options, problem),
            _ => self.train_vector::<UNIT_LANES>(targets, lanes, options, problem),
        }
    }

    fn train_vector<const LANES: usize>(
        &self,
        targets: &[LaneTargets],
        lanes: usize,
        options: &TreeOptions,
        problem: u64,
    ) -> NodeModels {
        let solution = solve::<LANES>(self.local.view(), self.features.len(), targets, options, problem);
        let mut models = NodeModels { biases: solution.biases[..lanes].to_vec(), ..NodeModels::default() };
        let mut order: Vec<(u32, usize)> = self.features.iter().copied().zip(0..).collect();
        order.sort_unstable();
        for lane in 0..lanes {
            for &(feature, column) in &order {
                let weight = solution.weights[column][lane];
                if weight != 0.0 && weight.abs() >= options.threshold {
                    models.columns.push(feature);
                    models.weights.push(weight);
                }
            }
            models.starts.push(models.weights.len() as u64);
        }
        models
    }
}
