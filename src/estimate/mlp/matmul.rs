//! Products of matrices, by `ndarray` on `matrixmultiply`, cut into blocks that do not depend on the number of threads. Each
//! number of a result is summed up by one thread, in one order, whatever the other rows and columns are.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

/// Columns of a result that one thread computes at a time: enough to be fast, few enough for many threads.
pub(super) const COLUMNS_PER_BLOCK: usize = 256;

pub(super) fn matrix(rows: usize, columns: usize, numbers: &[f32]) -> ArrayView2<'_, f32> {
    ArrayView2::from_shape((rows, columns), &numbers[..rows * columns]).expect("as many numbers as cells")
}

pub(super) fn matrix_mut(rows: usize, columns: usize, numbers: &mut [f32]) -> ArrayViewMut2<'_, f32> {
    ArrayViewMut2::from_shape((rows, columns), &mut numbers[..rows * columns])
        .expect("as many numbers as cells")
}

/// `out = left * right`, by one thread.
pub(super) fn multiply(
    left: &ArrayView2<'_, f32>,
    right: &ArrayView2<'_, f32>,
    out: &mut ArrayViewMut2<'_, f32>,
) {
    general_mat_mul(1.0, left, right, 0.0, out);
}

/// Calls `job` with every block of columns of `out` and the number of its first column.
pub(super) fn for_each_column_block<R: Send>(
    mut out: ArrayViewMut2<'_, f32>,
    job: impl Fn(usize, ArrayViewMut2<'_, f32>) -> R + Sync + Send,
) -> Vec<R> {
    let blocks: Vec<ArrayViewMut2<'_, f32>> = out.axis_chunks_iter_mut(Axis(1), COLUMNS_PER_BLOCK).collect();
    blocks.into_par_iter().enumerate().map(|(at, block)| job(at * COLUMNS_PER_BLOCK, block)).collect()
}
