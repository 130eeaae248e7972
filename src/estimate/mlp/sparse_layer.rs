//! The first layer on sparse rows: sums of rows of its matrix.

use pulp::Arch;

use crate::simd::with_simd;

/// `sum += value * row` for every value and its row of `matrix`, which has rows as long as `sum`; in the order given.
pub(super) fn add_scaled_rows(arch: Arch, sum: &mut [f32], matrix: &[f32], (rows, values): (&[u32], &[f32])) {
    let width = sum.len();
    with_simd(
        arch,
        #[inline(always)]
        || {
            let (four_rows, last_rows) = rows.as_chunks::<4>();
            let (four_values, last_values) = values.as_chunks::<4>();
            // Four at a time: the sum is read and written once for all of them.
            for (&[a, b, c, d], &[x, y, z, w]) in four_rows.iter().zip(four_values) {
                let (a, b, c, d) = (
                    row(matrix, width, a),
                    row(matrix, width, b),
                    row(matrix, width, c),
                    row(matrix, width, d),
                );
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
