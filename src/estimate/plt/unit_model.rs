//! A unit that has been trained.

use rayon::prelude::*;

use super::options::TreeOptions;
use super::solver::{LaneTargets, Solution, solve};
use super::tree::Tree;
use super::unit_rows::UnitRows;
use super::units::{UNIT_LANES, Unit};
use crate::heartbeat::beat;

/// Biases and weights of the nodes of a unit, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UnitModel {
    pub biases: Vec<f32>,
    /// Where the weights of each node begin, and those of the last one end.
    pub starts: Vec<u64>,
    /// Features, ascending for each node.
    pub columns: Vec<u32>,
    pub weights: Vec<f32>,
}

/// Trains the nodes of a unit. `number` tells the units of a forest apart.
pub(super) fn train_unit(
    rows: &UnitRows,
    tree: &Tree,
    unit: &Unit,
    options: &TreeOptions,
    number: u64,
) -> UnitModel {
    let parts: Vec<UnitModel> = unit
        .nodes
        .par_chunks(UNIT_LANES)
        .enumerate()
        .map(|(part, nodes)| {
            let targets = rows.targets(tree, unit, nodes);
            let model = train_lanes(rows, &targets, nodes.len(), options, number << 24 | part as u64);
            beat();
            model
        })
        .collect();
    let mut model = UnitModel { starts: vec![0], ..UnitModel::default() };
    parts.iter().for_each(|part| model.append(part));
    model
}

/// Trains the root of a tree: whether a row has a label at all.
pub(super) fn train_root(rows: &UnitRows, options: &TreeOptions, number: u64) -> UnitModel {
    train_lanes(rows, &rows.any_label_targets(), 1, options, number << 24)
}

/// As many nodes as there are `lanes`, in a vector no wider than it takes.
fn train_lanes(
    rows: &UnitRows,
    targets: &[LaneTargets],
    lanes: usize,
    options: &TreeOptions,
    problem: u64,
) -> UnitModel {
    match lanes {
        0..=4 => to_unit_model(rows, &solve::<4>(&rows.local, targets, options, problem), lanes, options),
        5..=8 => to_unit_model(rows, &solve::<8>(&rows.local, targets, options, problem), lanes, options),
        _ => {
            to_unit_model(rows, &solve::<UNIT_LANES>(&rows.local, targets, options, problem), lanes, options)
        }
    }
}

/// The weights that count, by node.
fn to_unit_model<const LANES: usize>(
    rows: &UnitRows,
    solution: &Solution<LANES>,
    lanes: usize,
    options: &TreeOptions,
) -> UnitModel {
    let mut model =
        UnitModel { biases: solution.biases[..lanes].to_vec(), starts: vec![0], ..UnitModel::default() };
    let mut order: Vec<(u32, usize)> = rows.features.iter().copied().zip(0..).collect();
    order.sort_unstable();
    for lane in 0..lanes {
        for &(feature, column) in &order {
            let weight = solution.weights[column][lane];
            if weight != 0.0 && weight.abs() >= options.threshold {
                model.columns.push(feature);
                model.weights.push(weight);
            }
        }
        model.starts.push(model.weights.len() as u64);
    }
    model
}

impl UnitModel {
    /// A unit of one node that every row reaches.
    pub fn always_reached() -> UnitModel {
        UnitModel { biases: vec![f32::INFINITY], starts: vec![0, 0], ..UnitModel::default() }
    }

    /// Puts the nodes of another behind these.
    pub fn append(&mut self, other: &UnitModel) {
        let before = self.weights.len() as u64;
        self.biases.extend_from_slice(&other.biases);
        self.starts.extend(other.starts[1..].iter().map(|at| before + at));
        self.columns.extend_from_slice(&other.columns);
        self.weights.extend_from_slice(&other.weights);
    }

    /// As bytes, for other ranks and for the disk.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let sizes = [self.biases.len() as u64, self.weights.len() as u64];
        bytes.extend_from_slice(bytemuck::cast_slice(&sizes));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.starts));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.biases));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.columns));
        bytes.extend_from_slice(bytemuck::cast_slice(&self.weights));
        bytes
    }

    /// What [`UnitModel::encode`] gave; `None` for anything else.
    pub fn decode(mut bytes: &[u8]) -> Option<UnitModel> {
        let sizes: Vec<u64> = read_numbers(&mut bytes, 2)?;
        let (nodes, weights) = (usize::try_from(sizes[0]).ok()?, usize::try_from(sizes[1]).ok()?);
        let model = UnitModel {
            starts: read_numbers(&mut bytes, nodes.checked_add(1)?)?,
            biases: read_numbers(&mut bytes, nodes)?,
            columns: read_numbers(&mut bytes, weights)?,
            weights: read_numbers(&mut bytes, weights)?,
        };
        (bytes.is_empty() && model.starts.last() == Some(&sizes[1])).then_some(model)
    }
}

fn read_numbers<T: bytemuck::Pod>(bytes: &mut &[u8], count: usize) -> Option<Vec<T>> {
    let (mine, rest) = bytes.split_at_checked(count.checked_mul(size_of::<T>())?)?;
    *bytes = rest;
    let mut numbers = vec![T::zeroed(); count];
    bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(mine);
    Some(numbers)
}
