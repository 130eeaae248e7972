//! One type for each index space of a shard, so that no number is mistaken for another.

macro_rules! index {
    ($(#[$doc:meta])* $name:ident($number:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $number);

        impl $name {
            /// Returns the number as a subscript.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A label, numbered as in the files.
    LabelId(u32)
}

index! {
    /// The position of a label in the renumbered order of [`ColumnOrder`](super::ColumnOrder). Without such an
    /// order it is the label itself.
    Column(u32)
}

index! {
    /// The 16 bits that stand for a column in the entry arrays; several columns may share one. See
    /// [`ColumnCoding`](super::ColumnCoding).
    Code(u16)
}

index! {
    /// The position of an entry within its row.
    Position(u32)
}

index! {
    /// The position of an entry among those of all rows of the shard.
    EntryIndex(usize)
}
