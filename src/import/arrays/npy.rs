//! A NumPy array, kept as stored and decoded entry by entry.

use super::npy_header::NpyHeader;
use crate::import::matrix_problem::MatrixProblem;

/// An array with exactly the bytes that its shape and type need.
#[derive(Debug)]
pub(super) struct Array {
    name: String,
    pub header: NpyHeader,
    class: ElementClass,
    size: usize,
    big_endian: bool,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementClass {
    Bool,
    Signed,
    Unsigned,
    Float,
    Bytes,
    Unicode,
}

impl Array {
    /// Parses an `.npy` file; errors refer to it as `name`.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Array, MatrixProblem> {
        let header = NpyHeader::parse(&bytes)
            .map_err(|reason| MatrixProblem::NotArray { member: name.to_owned(), reason })?;
        let (class, size) = classify(&header.descr).ok_or_else(|| MatrixProblem::Type {
            member: name.to_owned(),
            found: header.descr.clone(),
            supported: "booleans, integers and floats of at most 64 bits",
        })?;
        let promised = header.shape.iter().try_fold(size, |product, &length| product.checked_mul(length));
        let found = bytes.len() - header.data;
        if promised != Some(found) {
            return Err(MatrixProblem::Length {
                member: name.to_owned(),
                found,
                promised: promised.map_or("more than fit".to_owned(), |n| n.to_string()),
            });
        }
        let (name, big_endian) = (name.to_owned(), header.descr.starts_with('>'));
        Ok(Array { name, header, class, size, big_endian, bytes })
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        (self.bytes.len() - self.header.data) / self.size
    }

    /// Fails unless the entries are numbers, as [`Array::number`] requires.
    pub fn require_numbers(&self) -> Result<(), MatrixProblem> {
        let text = matches!(self.class, ElementClass::Bytes | ElementClass::Unicode);
        if text { Err(self.wrong_type("booleans, integers and floats")) } else { Ok(()) }
    }

    /// Fails unless the entries are integers, as [`Array::integer`] requires.
    pub fn require_integers(&self) -> Result<(), MatrixProblem> {
        let integers = matches!(self.class, ElementClass::Signed | ElementClass::Unsigned);
        if integers { Ok(()) } else { Err(self.wrong_type("integers")) }
    }

    /// Returns entry `at` of an array of numbers.
    pub fn number(&self, at: usize) -> f64 {
        match (self.class, self.size) {
            (ElementClass::Float, 2) => f16_to_f64(self.bits(at) as u16),
            (ElementClass::Float, 4) => f64::from(f32::from_bits(self.bits(at) as u32)),
            (ElementClass::Float, _) => f64::from_bits(self.bits(at)),
            (ElementClass::Bool, _) => f64::from(u8::from(self.bits(at) != 0)),
            _ => self.integer(at) as f64,
        }
    }

    /// Returns entry `at` of an array of integers.
    pub fn integer(&self, at: usize) -> i128 {
        let bits = self.bits(at);
        match (self.class, self.size) {
            (ElementClass::Signed, 1) => i128::from(bits as i8),
            (ElementClass::Signed, 2) => i128::from(bits as i16),
            (ElementClass::Signed, 4) => i128::from(bits as i32),
            (ElementClass::Signed, _) => i128::from(bits as i64),
            _ => i128::from(bits),
        }
    }

    /// Returns the string of an array with a single entry.
    pub fn string(&self) -> Result<String, MatrixProblem> {
        let bytes = &self.bytes[self.header.data..];
        let text: String = match self.class {
            ElementClass::Bytes if self.len() == 1 => bytes.iter().map(|&b| char::from(b)).collect(),
            ElementClass::Unicode if self.len() == 1 => bytes
                .chunks_exact(4)
                .map(|unit| unit.iter().copied().find(|&byte| byte != 0).unwrap_or(0))
                .map(char::from)
                .collect(),
            _ => return Err(self.wrong_type("one string")),
        };
        Ok(text.trim_end_matches('\0').to_owned())
    }

    fn bits(&self, at: usize) -> u64 {
        let start = self.header.data + at * self.size;
        let mut word = [0; 8];
        let stored = &self.bytes[start..start + self.size];
        word[..self.size].copy_from_slice(stored);
        if self.big_endian {
            word[..self.size].reverse();
        }
        u64::from_le_bytes(word)
    }

    fn wrong_type(&self, supported: &'static str) -> MatrixProblem {
        MatrixProblem::Type { member: self.name.clone(), found: self.header.descr.clone(), supported }
    }
}

/// Returns the class and the bytes per entry of a NumPy type string such as `<f4`.
fn classify(descr: &str) -> Option<(ElementClass, usize)> {
    let rest = descr.strip_prefix(['<', '>', '|', '='])?;
    let class = rest.chars().next()?;
    let size: usize = rest.get(1..)?.parse().ok()?;
    match (class, size) {
        ('b', 1) => Some((ElementClass::Bool, 1)),
        ('i', 1 | 2 | 4 | 8) => Some((ElementClass::Signed, size)),
        ('u', 1 | 2 | 4 | 8) => Some((ElementClass::Unsigned, size)),
        ('f', 2 | 4 | 8) => Some((ElementClass::Float, size)),
        ('S', 1..) => Some((ElementClass::Bytes, size)),
        ('U', 1..) => Some((ElementClass::Unicode, size.checked_mul(4)?)),
        _ => None,
    }
}

/// Converts an IEEE 754 half.
fn f16_to_f64(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::f16_to_f64;

    #[test]
    fn halves_have_their_ieee_values() {
        assert_eq!(f16_to_f64(0x3c00), 1.0);
        assert_eq!(f16_to_f64(0xc000), -2.0);
        assert_eq!(f16_to_f64(0x7bff), 65504.0);
        assert_eq!(f16_to_f64(0x0001), 2f64.powi(-24));
        assert_eq!(f16_to_f64(0x7c00), f64::INFINITY);
        assert!(f16_to_f64(0x7e00).is_nan());
    }
}
