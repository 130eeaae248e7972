//! What there is to train, how much work that is, and who does it when.

use super::tree_plan::TreePlan;
use super::unit_rows::TrainingSet;

/// A unit to be trained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// The tree, and the unit there; none for the root, which all trees share.
    pub unit: Option<(usize, usize)>,
    /// In no unit of its own; only for comparing.
    work: u64,
}

impl Task {
    /// How many nodes it trains.
    pub fn nodes(&self, trees: &[TreePlan]) -> usize {
        self.unit.map_or(1, |(tree, unit)| trees[tree].units[unit].nodes.len())
    }
}

/// All there is to train, tree by tree. `root` says whether that is trained too.
pub(super) fn all_tasks(training_set: &TrainingSet<'_>, trees: &[TreePlan], root: bool) -> Vec<Task> {
    let rows = training_set.labels.count();
    let mut tasks = Vec::new();
    if root {
        tasks.push(Task { unit: None, work: rows as u64 });
    }
    for (number, planned) in trees.iter().enumerate() {
        for (at, unit) in planned.units.iter().enumerate() {
            let labels = planned.labels_below(unit.root).iter();
            // Rows with several of the labels are counted several times, but never more than all.
            let positives: usize =
                labels.map(|&label| training_set.positives.rows(label as usize).len()).sum();
            let work = positives.min(rows) as u64 * unit.nodes.len().max(4) as u64;
            tasks.push(Task { unit: Some((number, at)), work });
        }
    }
    tasks
}

/// Rounds between which a training can be stopped: more of them lose less when it is, fewer wait less for the slowest.
const TARGET_ROUNDS: u64 = 16;

/// Divides what is `left` into rounds, the largest tasks first: each of a part of all work, and enough for all `workers`
/// (threads of all ranks) to be busy as long as its largest task takes.
pub(super) fn plan_rounds(tasks: &[Task], left: &[usize], workers: u64) -> Vec<Vec<usize>> {
    let mut order = left.to_vec();
    order.sort_by_key(|&task| (u64::MAX - tasks[task].work, task));
    let share = tasks.iter().map(|task| task.work).sum::<u64>() / TARGET_ROUNDS;
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    let (mut filled, mut wanted) = (0, 0);
    for task in order {
        let work = tasks[task].work;
        if filled >= wanted {
            rounds.push(Vec::new());
            (filled, wanted) = (0, share.max(work.saturating_mul(workers)));
        }
        filled += work;
        rounds.last_mut().expect("one was just begun").push(task);
    }
    rounds
}

/// Who does which tasks of a round: the next goes to whoever has least to do.
pub(super) fn assign_to_ranks(tasks: &[Task], round: &[usize], ranks: usize) -> Vec<Vec<usize>> {
    let mut shares = vec![(0, Vec::new()); ranks];
    for &task in round {
        let least = (0..ranks).min_by_key(|&rank| shares[rank].0).expect("there is at least one rank");
        shares[least].0 += tasks[task].work;
        shares[least].1.push(task);
    }
    shares.into_iter().map(|share| share.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(work: &[u64]) -> Vec<Task> {
        work.iter().map(|&work| Task { unit: None, work }).collect()
    }

    #[test]
    fn every_task_is_in_one_round_and_has_one_rank() {
        let tasks = made(&[5, 900, 1, 1, 70, 300, 2, 2, 40, 8]);
        let left: Vec<usize> = (0..10).filter(|&task| task != 5).collect();
        let mut seen: Vec<usize> = Vec::new();
        for round in plan_rounds(&tasks, &left, 3) {
            let shared: Vec<usize> = assign_to_ranks(&tasks, &round, 3).concat();
            assert_eq!(shared.len(), round.len());
            seen.extend(shared);
        }
        seen.sort_unstable();
        assert_eq!(seen, left);
    }

    #[test]
    fn the_largest_tasks_come_first_and_nobody_waits_for_long() {
        let tasks = made(&[10, 20, 30, 40]);
        assert_eq!(plan_rounds(&tasks, &[0, 1, 2, 3], 1)[0], [3]);
        assert_eq!(plan_rounds(&tasks, &[0, 1, 2, 3], 2)[0], [3, 2, 1]);
        assert_eq!(assign_to_ranks(&tasks, &[3, 2, 1, 0], 2), [vec![3, 0], vec![2, 1]]);
    }
}
