//! Strict numbers: the whole text must be a number.

/// The largest number of columns of a matrix.
pub(super) const MAX_COLUMNS: usize = u32::MAX as usize;

/// The reason why a string is not a valid value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberError {
    NotANumber,
    NotFinite,
}

/// Parses a column index: decimal digits only, without a sign, below [`MAX_COLUMNS`].
pub(super) fn index(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&index: &u32| digits && (index as usize) < MAX_COLUMNS)
}

/// Parses a finite 32-bit number. Numbers too large for 32 bits are not finite; numbers too small are 0.
pub(super) fn value(text: &str) -> Result<f32, NumberError> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(NumberError::NotFinite),
        Err(_) => Err(NumberError::NotANumber),
    }
}
