//! Logistic regressions of consecutive nodes.

/// Biases and sparse weights of some nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeModels {
    /// Log-odds of each node when all features are 0; infinite for a root that every row reaches.
    pub biases: Vec<f32>,
    /// Start of each node in `columns` and `weights`, and the end of the last node.
    pub starts: Vec<u64>,
    /// Features, ascending within a node.
    pub columns: Vec<u32>,
    pub weights: Vec<f32>,
}

impl Default for NodeModels {
    fn default() -> NodeModels {
        NodeModels { biases: Vec::new(), starts: vec![0], columns: Vec::new(), weights: Vec::new() }
    }
}

impl NodeModels {
    /// A single node that every row reaches.
    pub fn always_reached() -> NodeModels {
        NodeModels { biases: vec![f32::INFINITY], starts: vec![0, 0], ..NodeModels::default() }
    }

    /// Returns the features of a node and their weights.
    pub fn node(&self, node: usize) -> (&[u32], &[f32]) {
        let entries = self.starts[node] as usize..self.starts[node + 1] as usize;
        (&self.columns[entries.clone()], &self.weights[entries])
    }

    /// Appends the nodes of `other`.
    pub fn append(&mut self, other: &NodeModels) {
        let before = self.weights.len() as u64;
        self.biases.extend_from_slice(&other.biases);
        self.starts.extend(other.starts[1..].iter().map(|at| before + at));
        self.columns.extend_from_slice(&other.columns);
        self.weights.extend_from_slice(&other.weights);
    }

    /// Encodes the nodes for other ranks and for checkpoints.
    pub fn encode(&self) -> Vec<u8> {
        let sizes = [self.biases.len() as u64, self.weights.len() as u64];
        let parts: [&[u8]; 5] = [
            bytemuck::cast_slice(&sizes),
            bytemuck::cast_slice(&self.starts),
            bytemuck::cast_slice(&self.biases),
            bytemuck::cast_slice(&self.columns),
            bytemuck::cast_slice(&self.weights),
        ];
        parts.concat()
    }

    /// Decodes the bytes of [`NodeModels::encode`]; `None` for any others.
    pub fn decode(mut bytes: &[u8]) -> Option<NodeModels> {
        let sizes: Vec<u64> = read_numbers(&mut bytes, 2)?;
        let (nodes, weights) = (usize::try_from(sizes[0]).ok()?, usize::try_from(sizes[1]).ok()?);
        let models = NodeModels {
            starts: read_numbers(&mut bytes, nodes.checked_add(1)?)?,
            biases: read_numbers(&mut bytes, nodes)?,
            columns: read_numbers(&mut bytes, weights)?,
            weights: read_numbers(&mut bytes, weights)?,
        };
        (bytes.is_empty() && models.starts.last() == Some(&sizes[1])).then_some(models)
    }
}

fn read_numbers<T: bytemuck::Pod>(bytes: &mut &[u8], count: usize) -> Option<Vec<T>> {
    let numbers = bytes.split_off(..count.checked_mul(size_of::<T>())?)?;
    Some(bytemuck::pod_collect_to_vec(numbers))
}
