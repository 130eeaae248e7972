//! Problems of lines of text.

use super::parse_number::MAX_COLUMNS;

/// A problem of one line of text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextProblem {
    #[error("byte 0x{byte:02x} is not UTF-8; convert the file to UTF-8")]
    NotUtf8 { byte: u8 },

    // Extreme Classification and LIBSVM
    #[error("the header is '{found}', but must be three whole numbers: rows, features, labels")]
    Header { found: String },
    #[error("the number of {what} in the header is {found}, but at most {largest} are supported")]
    HeaderOverflow { what: &'static str, found: String, largest: usize },
    #[error("the header promises {promised} rows, but {found} follow; the file may be cut short")]
    TooFewRows { promised: usize, found: usize },
    #[error("this is row {found}, but the header promises {promised}; correct the header or the rows")]
    TooManyRows { promised: usize, found: usize },
    #[error("label '{found}' is not a whole number from 0 to {}", MAX_COLUMNS - 1)]
    Label { found: String },
    #[error("label {label} is out of range; {by} allows {}", index_range(*labels))]
    LabelOutOfRange { label: u32, labels: usize, by: &'static str },
    #[error("label {label} occurs twice; name each label of a row once")]
    LabelTwice { label: u32 },
    #[error("'{found}' is not a feature; write index:value")]
    Pair { found: String },
    #[error("feature index '{index}' in '{found}' is not a whole number from 0 to {}", MAX_COLUMNS - 1)]
    FeatureIndex { index: String, found: String },
    #[error("feature {feature} is out of range; the header allows {}", index_range(*features))]
    FeatureOutOfRange { feature: u32, features: usize },
    #[error("feature 0 occurs, but --zero-based is false; pass --zero-based true")]
    FeatureZero,
    #[error("feature {feature} occurs twice; name each feature of a row once")]
    FeatureTwice { feature: u32 },
    #[error("value '{value}' in '{found}' is not a number")]
    Value { value: String, found: String },
    #[error("value '{value}' in '{found}' is not finite; a value must be a finite 32-bit number")]
    NotFinite { value: String, found: String },

    // Predictions
    #[error("'{found}' is not a label with a score; write label:score")]
    ScorePair { found: String },
    #[error(
        "label {label} has the score {score}, but a probability must be in [0, 1]; convert scores to probabilities \
         first, or pass --clamp to move them to the nearest bound"
    )]
    NotProbability { label: u32, score: String },

    // ARFF
    #[error("'{found}' is neither @relation, @attribute nor @data; correct the header")]
    Declaration { found: String },
    #[error("the quote in '{found}' is never closed; end it on the same line")]
    Quote { found: String },
    #[error("attribute '{found}' has no {what}; write @attribute NAME TYPE")]
    Attribute { found: String, what: &'static str },
    #[error(
        "attribute '{attribute}' is of type '{found}'; \
         supported are numeric, real, integer and {{value,value}}"
    )]
    AttributeType { attribute: String, found: String },
    #[error("attribute '{attribute}' was declared before; names must be unique")]
    AttributeTwice { attribute: String },
    #[error("the file ends without @data; it may be cut short")]
    NoData,
    #[error("the row has {found} values, but {attributes} attributes are declared")]
    Width { found: usize, attributes: usize },
    #[error("attribute '{attribute}' is missing ('?'); fill in or remove missing values")]
    Missing { attribute: String },
    #[error("attribute '{attribute}' is '{found}', but {allowed}")]
    AttributeValue { attribute: String, found: String, allowed: String },
    #[error("label '{attribute}' is '{found}', but a label is 0 or 1")]
    LabelValue { attribute: String, found: String },
    #[error("'{found}' is not an entry of a sparse row; write {{index value, index value}}")]
    SparseEntry { found: String },
    #[error("attribute index '{found}' is out of range; {attributes} attributes count from 0")]
    SparseIndex { found: String, attributes: usize },
    #[error("attribute {index} ('{attribute}') occurs twice; name each attribute of a row once")]
    SparseTwice { index: usize, attribute: String },
    #[error(
        "attribute '{attribute}' is declared {{1,0}}, so a sparse row that leaves it out means 1; \
         declare it {{0,1}} or write dense rows"
    )]
    SparseReversed { attribute: String },

    // XML label lists
    #[error("not well-formed XML: {reason}")]
    Xml { reason: String },
    #[error("the outermost element is <{found}>, but a label list is <labels>")]
    XmlRoot { found: String },
    #[error("this <label> has no name; write <label name=\"...\">")]
    XmlNameless,
    #[error("label '{name}' is listed twice; list each label once")]
    XmlTwice { name: String },
    #[error("the list holds no <label>; list at least one")]
    XmlEmpty,
    #[error("label '{name}' is not an attribute of {arff}; correct the list or the file")]
    XmlUnknown { name: String, arff: String },
}

/// Describes the indices below `size`.
pub(super) fn index_range(size: usize) -> String {
    match size {
        0 => "none".to_owned(),
        _ => format!("0 to {}", size - 1),
    }
}

/// Returns at most 40 characters of `text`, with control characters escaped.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == LONGEST {
            shown.push_str("...");
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}
