//! Stored marginals the way a pass reads them: as few bytes an entry as can be.

use super::blocks::Blocks;
use super::order::Order;
use super::pack::renumber;
use crate::store::Csr;

/// How a column is stored.
pub trait Column: Copy + Eq + Send + Sync + sealed::Sealed + 'static {
    fn index(self) -> usize;
    /// The column of that number, which must fit.
    fn at(index: usize) -> Self;
}

/// Kernels know the two widths there are.
mod sealed {
    pub trait Sealed {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
}

impl Column for u16 {
    #[inline]
    fn index(self) -> usize {
        self.into()
    }

    #[inline]
    fn at(index: usize) -> u16 {
        index as u16
    }
}

impl Column for u32 {
    #[inline]
    fn index(self) -> usize {
        self as usize
    }

    #[inline]
    fn at(index: usize) -> u32 {
        index as u32
    }
}

/// Entries that follow every row, if only as padding: kernels read as many at a time.
pub const PADDING: usize = 16;

/// Columns are narrow where the number of labels allows: a quarter of the bytes a pass reads.
pub enum Columns {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Columns {
    /// The most labels that narrow columns can tell apart.
    pub const NARROW: usize = 1 << 16;

    /// Zeroed space for `entries` columns below `labels`, and the padding.
    pub(super) fn new(labels: usize, entries: usize) -> Columns {
        if labels <= Columns::NARROW {
            Columns::Narrow(vec![0; entries + PADDING])
        } else {
            Columns::Wide(vec![0; entries + PADDING])
        }
    }

    /// Bytes of one column.
    pub(super) fn width(labels: usize) -> usize {
        if labels <= Columns::NARROW { size_of::<u16>() } else { size_of::<u32>() }
    }
}

/// The stored marginals of a range of rows. In each row labels ascend.
pub struct Marginals {
    labels: usize,
    starts: Vec<u64>,
    columns: Columns,
    values: Vec<f32>,
    order: Option<Order>,
    blocks: Blocks,
    longest_row: usize,
}

/// The entries of one row, in either width.
#[derive(Clone, Copy)]
pub enum Row<'s> {
    Narrow(Entries<'s, u16>),
    Wide(Entries<'s, u32>),
}

/// The entries of one row.
#[derive(Clone, Copy)]
pub struct Entries<'s, C> {
    columns: &'s [C],
    values: &'s [f32],
    length: usize,
}

impl<'s, C: Column> Entries<'s, C> {
    /// `length` entries from `start` on.
    ///
    /// # Panics
    /// When fewer than [`PADDING`] others follow.
    #[inline]
    pub fn new(columns: &'s [C], values: &'s [f32], start: usize, length: usize) -> Self {
        let (columns, values) = (&columns[start..], &values[start..]);
        let needed = length + PADDING;
        assert!(columns.len() >= needed && values.len() >= needed, "rows are followed by padding");
        Entries { columns, values, length }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    #[inline]
    pub fn columns(&self) -> &'s [C] {
        &self.columns[..self.length]
    }

    #[inline]
    pub fn values(&self) -> &'s [f32] {
        &self.values[..self.length]
    }

    /// Columns and values of the row and of all that is behind it, which is at least the padding.
    #[inline]
    pub fn padded(&self) -> (&'s [C], &'s [f32]) {
        (self.columns, self.values)
    }
}

impl Marginals {
    /// `columns` and `values` are followed by padding; `starts` begins with 0. Columns are what `order`
    /// makes of labels, which ascend in each row.
    pub(super) fn new(
        labels: usize,
        starts: Vec<u64>,
        columns: Columns,
        values: Vec<f32>,
        order: Option<Order>,
        blocks: Blocks,
    ) -> Marginals {
        let longest_row = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) as usize;
        Marginals { labels, starts, columns, values, order, blocks, longest_row }
    }

    pub fn labels(&self) -> usize {
        self.labels
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn entries(&self) -> usize {
        self.starts[self.rows()] as usize
    }

    /// The number of a row's first entry; with the number of rows, of all entries.
    #[inline]
    pub fn start(&self, local: usize) -> usize {
        self.starts[local] as usize
    }

    /// The largest number of entries of a row.
    pub fn longest_row(&self) -> usize {
        self.longest_row
    }

    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The label of every column; none when it is the column itself.
    pub fn names(&self) -> Option<&[u32]> {
        self.order.as_ref().map(Order::names)
    }

    /// The label of a column.
    #[inline]
    pub fn label(&self, column: u32) -> u32 {
        self.names().map_or(column, |names| names[column as usize])
    }

    /// The column of every label; none when it is the label itself.
    pub fn columns_of(&self) -> Option<&[u32]> {
        self.order.as_ref().map(Order::columns)
    }

    #[inline]
    pub fn row(&self, local: usize) -> Row<'_> {
        let start = self.starts[local] as usize;
        let length = self.starts[local + 1] as usize - start;
        match &self.columns {
            Columns::Narrow(columns) => Row::Narrow(Entries::new(columns, &self.values, start, length)),
            Columns::Wide(columns) => Row::Wide(Entries::new(columns, &self.values, start, length)),
        }
    }

    /// Labels and marginals of a row, labels ascending.
    pub fn labelled(&self, local: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.starts[local] as usize..self.starts[local + 1] as usize;
        range.map(move |at| {
            let column = match &self.columns {
                Columns::Narrow(columns) => columns[at].into(),
                Columns::Wide(columns) => columns[at],
            };
            (self.label(column), self.values[at])
        })
    }

    /// The marginals of all entries, and the padding.
    #[inline]
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

impl From<&Csr> for Marginals {
    fn from(matrix: &Csr) -> Marginals {
        let starts: Vec<u64> = matrix.indptr().raw_storage().iter().map(|&at| at as u64).collect();
        let (labels, indices) = (matrix.cols(), matrix.indices());
        let mut columns = Columns::new(labels, indices.len());
        let order = (labels >= Order::WORTHWHILE).then(|| Order::by_frequency(labels, indices));
        let columns_of = order.as_ref().map(Order::columns);
        match &mut columns {
            Columns::Narrow(columns) => renumber(columns, indices, columns_of),
            Columns::Wide(columns) => renumber(columns, indices, columns_of),
        }
        let mut values = matrix.data().to_vec();
        values.extend([0.0; PADDING]);
        let blocks = Blocks::new(&starts);
        Marginals::new(labels, starts, columns, values, order, blocks)
    }
}
