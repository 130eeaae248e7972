//! Matrix products, computed in blocks that do not depend on the number of threads.
//!
//! Each number of a result is summed up by one thread in one order, whatever the other rows and columns are. Dense
//! products are those of `ndarray` with `matrixmultiply`.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use pulp::Arch;
use rayon::prelude::*;

use crate::simd::with_simd;

/// Columns of a result that one thread computes at a time: enough to be fast, few enough for many threads.
pub(super) const COLUMNS_PER_BLOCK: usize = 256;

pub(super) fn matrix(rows: usize, columns: usize, numbers: &[f32]) -> ArrayView2<'_, f32> {
    ArrayView2::from_shape((rows, columns), &numbers[..rows * columns])
        .expect("the slice has that many numbers")
}

pub(super) fn matrix_mut(rows: usize, columns: usize, numbers: &mut [f32]) -> ArrayViewMut2<'_, f32> {
    ArrayViewMut2::from_shape((rows, columns), &mut numbers[..rows * columns])
        .expect("the slice has that many numbers")
}

/// Computes `out = left * right` in this thread.
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

/// Computes `sum += value * row` for all values of a sparse row and their rows of `matrix`, which are as long as `sum`.
pub(super) fn add_scaled_rows(arch: Arch, sum: &mut [f32], matrix: &[f32], (rows, values): (&[u32], &[f32])) {
    let width = sum.len();
    with_simd(
        arch,
        #[inline(always)]
        || {
            let (four_rows, last_rows) = rows.as_chunks::<4>();
            let (four_values, last_values) = values.as_chunks::<4>();
            // Four at a time, so that the sum is read and written once for all of them.
            for (&rows, &[x, y, z, w]) in four_rows.iter().zip(four_values) {
                let [a, b, c, d] = rows.map(|number| row(matrix, width, number));
                for (at, sum) in sum.iter_mut().enumerate() {
                    *sum += x * a[at] + y * b[at] + z * c[at] + w * d[at];
                }
            }
            for (&a, &x) in last_rows.iter().zip(last_values) {
                sum.iter_mut().zip(row(matrix, width, a)).for_each(|(sum, a)| *sum += x * a);
            }
        },
    );
}

#[inline(always)]
fn row(matrix: &[f32], width: usize, row: u32) -> &[f32] {
    &matrix[row as usize * width..][..width]
}
