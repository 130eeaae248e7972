//! Quoting for shells.

/// Returns the word, in quotes if a shell would not read it as one word.
pub fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.,/:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the words as a line for a shell.
pub fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| shell_quoted(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_only_words_that_need_it() {
        for plain in ["fit", "--labels=a.h5:group/x", "50%", "a_b-c+d,e@f"] {
            assert_eq!(shell_quoted(plain), plain);
        }
        assert_eq!(shell_quoted(""), "''");
        assert_eq!(shell_quoted("0.3*macro-f1 + x"), "'0.3*macro-f1 + x'");
    }

    #[test]
    fn a_shell_reads_quoted_words_back() {
        let words = ["a b", "it's", "$HOME `id` \\ \"", "*", "~", "two\nlines", "#no", "a;b&c|d>e", "ä"];
        let line: Vec<String> = words.iter().map(|word| shell_quoted(word)).collect();
        let script = format!("printf '%s\\0' {}", line.join(" "));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), words.map(|word| format!("{word}\0")).concat());
    }
}
