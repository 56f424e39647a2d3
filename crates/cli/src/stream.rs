//! The report as it comes: a line for each function as soon as it is decided, then what only the whole run can say.
//!
//! On a terminal lines come in the order of the answers. Where somebody may compare two outputs (a pipe, a file,
//! `--sorted`) they come in the order of the original, each as soon as all before it are there. JSON in one object is
//! printed at the end. An answer that was told is on disk or in the pipe: a killed run keeps it.

use crate::arguments::{CheckArguments, ReportFormat};
use crate::progress::Progress;
use crate::status::{Failure, Status};
use crate::stop::{Stop, Why};
use crate::{certificates, check, complain, deliver};
use report::{CheckReport, FunctionReport, Stopped, Summary, TextLines, Title, render_jsonl_start};
use search::Verdict;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

/// Where answers go.
pub struct Output<'a> {
    arguments: &'a CheckArguments,
    lines: TextLines,
    order: Order,
    /// Files for certificates, below the directory for them, by function.
    files: Vec<PathBuf>,
    progress: Progress,
    /// Answers so far.
    answers: BTreeMap<usize, FunctionReport>,
    /// The first function whose line is not printed.
    next: usize,
    total: usize,
    summary: Summary,
    /// A certificate that could not be written.
    failed: Option<Failure>,
}

/// In which order lines are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// That of the original.
    Sorted,
    /// That of the answers.
    AsDecided,
}

impl<'a> Output<'a> {
    /// For these functions.
    pub fn new(arguments: &'a CheckArguments, titles: &[Title<'_>]) -> Output<'a> {
        let mut taken: BTreeMap<Option<String>, BTreeSet<String>> = BTreeMap::new();
        let file = |title: &Title<'_>| {
            let name = certificates::file_name(title.name, taken.entry(title.file.map(str::to_string)).or_default());
            title.file.map_or_else(PathBuf::new, certificates::directory).join(name)
        };
        let files = titles.iter().map(file).collect();
        let sorted = arguments.stream.sorted || !std::io::stdout().is_terminal();
        let output = Output {
            arguments,
            lines: TextLines::new(titles.iter().copied(), check::style(arguments)),
            order: if sorted { Order::Sorted } else { Order::AsDecided },
            files,
            progress: Progress::new(titles.len()),
            answers: BTreeMap::new(),
            next: 0,
            total: titles.len(),
            summary: Summary::default(),
            failed: None,
        };
        if arguments.format == ReportFormat::Jsonl {
            let [original, candidate] = output.paths();
            output.print(&render_jsonl_start([&original, &candidate], output.total));
        }
        output
    }

    fn paths(&self) -> [String; 2] {
        [&self.arguments.original, &self.arguments.candidate].map(|path| path.display().to_string())
    }

    /// An answer.
    pub fn tell(&mut self, index: usize, mut function: FunctionReport, stop: &mut Stop) {
        if let Some(directory) = &self.arguments.certificates
            && let Err(failure) = certificates::save(directory, &self.files[index], &mut function)
        {
            self.failed.get_or_insert(failure);
        }
        self.summary = self.summary.with(&function.outcome);
        if self.arguments.stream.fail_fast && self.fails(&function) {
            stop.found();
        }
        self.progress.decided(self.summary);
        if self.order == Order::AsDecided {
            self.print(&self.line(&function));
        }
        self.answers.insert(index, function);
        while self.order == Order::Sorted
            && let Some(function) = self.answers.get(&self.next)
        {
            self.print(&self.line(function));
            self.next += 1;
        }
    }

    /// Does the function make the exit status 1?
    fn fails(&self, function: &FunctionReport) -> bool {
        match &function.outcome.verdict {
            Verdict::Different(witness) => self.arguments.stream.fail_on.contains(&witness.class()),
            _ => false,
        }
    }

    fn line(&self, function: &FunctionReport) -> String {
        match self.arguments.format {
            ReportFormat::Text => self.lines.line(function),
            ReportFormat::Jsonl => function.render_jsonl(check::style(self.arguments).detail),
            ReportFormat::Json => String::new(),
        }
    }

    fn print(&self, text: &str) {
        if !text.is_empty() {
            self.progress.around(|| deliver(text));
        }
    }

    /// What comes after the last answer.
    pub fn finish(self, time: Duration, why: Option<Why>) -> Result<Status, Failure> {
        if self.order == Order::Sorted {
            // Behind the first function that is not decided.
            for (_, function) in self.answers.range(self.next..) {
                self.print(&self.line(function));
            }
        }
        let failing = self.answers.values().any(|function| self.fails(function));
        let [original, candidate] = self.paths();
        let Output { arguments, progress, answers, total, failed, .. } = self;
        drop(progress);
        let undecided = total - answers.len();
        let functions = answers.into_values().collect();
        let stopped = why.map(|why| Stopped { why: why.name(), undecided });
        let report = CheckReport { original, candidate, functions, time, reading: None, stopped };
        let style = check::style(arguments);
        deliver(&match arguments.format {
            ReportFormat::Text => report.render_text_end(style),
            ReportFormat::Json => report.render_json(style.detail),
            ReportFormat::Jsonl => report.render_jsonl_end(),
        });
        if let Some(Failure(what)) = failed {
            complain(&format!("error: {what}"));
            return Ok(Status::Failed);
        }
        let status = match Status::of(report.summary()) {
            Status::Different if !failing => Status::Unknown,
            status => status,
        };
        Ok(match why {
            Some(Why::Interrupted) => Status::Interrupted,
            Some(_) => status.at_least_unknown(),
            None => status,
        })
    }
}
