//! The ranks that share a node, and with it its memory.

use super::World;

/// The node of each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// For each rank, the first rank on the same node.
    first: Vec<usize>,
}

impl World {
    /// Returns the nodes of all ranks, on every rank. Collective.
    pub fn nodes(&self) -> Nodes {
        #[cfg(feature = "mpi")]
        let first = self.ranks.as_ref().map_or(0, |ranks| ranks.first_on_node());
        #[cfg(not(feature = "mpi"))]
        let first = 0;
        Nodes::new(self.gather_to_all(first as u64).into_iter().map(|rank| rank as usize).collect())
    }
}

impl Nodes {
    pub(crate) fn new(first: Vec<usize>) -> Nodes {
        Nodes { first }
    }

    /// Returns the number of nodes.
    pub fn count(&self) -> usize {
        self.first.iter().enumerate().filter(|&(rank, &first)| rank == first).count()
    }

    /// Returns the node of a rank, named by its first rank.
    pub fn node_of(&self, rank: usize) -> usize {
        self.first[rank]
    }

    /// Returns the ranks on the node of `rank`, itself included, in order.
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
    fn ranks_distributed_round_robin_keep_their_nodes() {
        let nodes = Nodes::new(vec![0, 1, 0, 1, 0]);
        assert_eq!(nodes.count(), 2);
        assert_eq!(nodes.node_of(3), 1);
        assert_eq!(nodes.same_node_ranks(2), [0, 2, 4]);
        assert_eq!(nodes.same_node_ranks(1), [1, 3]);
    }
}
