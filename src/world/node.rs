//! Which ranks share a node: they share its memory too.

use super::{Backend, World};

/// How the ranks of the job lie on nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Of each rank, the first rank on the same node.
    first: Vec<usize>,
}

impl World {
    /// How the ranks lie on nodes, the same on every rank. Collective.
    pub fn nodes(&self) -> Nodes {
        let first = match &self.backend {
            Backend::Alone => 0,
            #[cfg(feature = "mpi")]
            Backend::Ranks(ranks) => ranks.first_on_node(),
        };
        Nodes::new(self.gather_to_all(first as u64).into_iter().map(|rank| rank as usize).collect())
    }
}

impl Nodes {
    pub(crate) fn new(first: Vec<usize>) -> Nodes {
        Nodes { first }
    }

    /// How many nodes there are.
    pub fn count(&self) -> usize {
        self.first.iter().enumerate().filter(|&(rank, &first)| rank == first).count()
    }

    /// The node of a rank, named by the first rank on it.
    pub fn node_of(&self, rank: usize) -> usize {
        self.first[rank]
    }

    /// The ranks on the node of `rank`, itself included, in order.
    pub fn same_node_ranks(&self, rank: usize) -> Vec<usize> {
        (0..self.first.len()).filter(|&other| self.first[other] == self.first[rank]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_is_one_node() {
        let nodes = World::alone().nodes();
        assert_eq!(nodes.count(), 1);
        assert_eq!(nodes.same_node_ranks(0), [0]);
    }

    #[test]
    fn ranks_dealt_round_robin_are_found_again() {
        let nodes = Nodes::new(vec![0, 1, 0, 1, 0]);
        assert_eq!(nodes.count(), 2);
        assert_eq!(nodes.node_of(3), 1);
        assert_eq!(nodes.same_node_ranks(2), [0, 2, 4]);
        assert_eq!(nodes.same_node_ranks(1), [1, 3]);
    }
}
