//! Strict numbers: the whole text is a number, or there is none.

/// Why a text is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberError {
    NotANumber,
    NotFinite,
}

/// A column index: decimal digits only, no sign, at most `u32::MAX`.
pub(super) fn index(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// A finite 32-bit number. One too large for 32 bits is not finite; one too small is 0.
pub(super) fn value(text: &str) -> Result<f32, NumberError> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(NumberError::NotFinite),
        Err(_) => Err(NumberError::NotANumber),
    }
}
