//! Schedule of a training: its tasks, in rounds, assigned to ranks.

use super::training_set::TrainingSet;
use super::tree::Tree;

/// A unit to be trained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// The tree and the unit there; `None` for the root, which all trees share.
    pub unit: Option<(usize, usize)>,
    /// Estimated cost relative to other tasks.
    work: u64,
}

impl Task {
    /// Returns the number of nodes it trains.
    pub fn nodes(&self, trees: &[Tree]) -> usize {
        self.unit.map_or(1, |(tree, unit)| trees[tree].units[unit].nodes.len())
    }
}

/// Returns all tasks: the root if `with_root`, then the units tree by tree.
pub(super) fn all_tasks(training_set: &TrainingSet<'_>, trees: &[Tree], with_root: bool) -> Vec<Task> {
    let rows = training_set.labels.count();
    let root = with_root.then_some(Task { unit: None, work: rows as u64 });
    let mut tasks = Vec::from_iter(root);
    for (number, tree) in trees.iter().enumerate() {
        tasks.extend(tree.units.iter().enumerate().map(|(at, unit)| {
            // Counts rows with several of the labels several times, but never more than all rows.
            let labels = tree.labels_below(unit.root).iter();
            let positives: usize =
                labels.map(|&label| training_set.positives.rows(label as usize).len()).sum();
            let work = positives.min(rows) as u64 * unit.nodes.len().max(4) as u64;
            Task { unit: Some((number, at)), work }
        }));
    }
    tasks
}

/// A training can be stopped between rounds: more rounds lose less work then, fewer wait less for the slowest thread.
const TARGET_ROUNDS: u64 = 16;

/// Divides the tasks in `left` into rounds, the largest first. A round has its share of all work, and enough to keep
/// all `workers` (threads of all ranks) busy while its largest task runs.
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
        rounds.last_mut().expect("the first task begins a round").push(task);
    }
    rounds
}

/// Assigns the tasks of a round to ranks, each to the rank with the least work so far.
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

    fn tasks_of(work: &[u64]) -> Vec<Task> {
        work.iter().map(|&work| Task { unit: None, work }).collect()
    }

    #[test]
    fn every_task_is_in_one_round_and_on_one_rank() {
        let tasks = tasks_of(&[5, 900, 1, 1, 70, 300, 2, 2, 40, 8]);
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
    fn the_largest_tasks_come_first_and_ranks_share_the_work_evenly() {
        let tasks = tasks_of(&[10, 20, 30, 40]);
        assert_eq!(plan_rounds(&tasks, &[0, 1, 2, 3], 1)[0], [3]);
        assert_eq!(plan_rounds(&tasks, &[0, 1, 2, 3], 2)[0], [3, 2, 1]);
        assert_eq!(assign_to_ranks(&tasks, &[3, 2, 1, 0], 2), [vec![3, 0], vec![2, 1]]);
    }
}
