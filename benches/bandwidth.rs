//! Prints how fast memory is read, as JSON, for `make bench`.
//! `cargo bench --bench bandwidth -- [--threads 1,2] [--mib 512] [--rounds 9]`

use std::io::{self, Write};

use macrok::probe::read_bandwidth;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let number =
        |text: &str| text.parse::<usize>().map_err(|error| io::Error::other(format!("{text}: {error}")));
    // `cargo bench` says so; `cargo test --benches` asks only whether it runs.
    let quick = !arguments.iter().any(|argument| argument == "--bench");
    let mib = number(value("--mib").unwrap_or(if quick { "1" } else { "512" }))?;
    let rounds = number(value("--rounds").unwrap_or("9"))?;
    let threads =
        value("--threads").unwrap_or("1,2").split(',').map(number).collect::<io::Result<Vec<_>>>()?;
    let reads: Vec<_> =
        threads.into_iter().map(|threads| read_bandwidth(threads, mib << 20, rounds, || ())).collect();
    writeln!(io::stdout(), "{}", serde_json::json!({ "reads": reads }))
}
