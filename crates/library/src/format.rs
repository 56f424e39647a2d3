//! The part of printf formats that compilers see through: text, `%s` and `%c`.

use super::{Argument, Known};

/// What one part of a format writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// These bytes.
    Text(Vec<u8>),
    /// The string that this argument points to.
    String(Argument),
    /// This byte.
    Byte(Argument),
}

/// The pieces of a format whose arguments start at position `first`; neighbouring texts are joined, known
/// arguments are texts, empty texts are gone. `None` if there is a directive of another kind.
pub(super) fn pieces(format: &[u8], first: usize, known: &dyn Fn(usize) -> Option<Known>) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let (mut rest, mut next) = (format.iter().copied(), first);
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            push_text(&mut pieces, &[byte]);
            continue;
        }
        match rest.next()? {
            b'%' => push_text(&mut pieces, b"%"),
            b's' => {
                match known(next) {
                    Some(Known::Text(text)) => push_text(&mut pieces, &text),
                    _ => pieces.push(Piece::String(Argument::Given(next))),
                }
                next += 1;
            }
            b'c' => {
                match known(next) {
                    Some(Known::Number(value)) => push_text(&mut pieces, &[value as u8]),
                    _ => pieces.push(Piece::Byte(Argument::LowByte(next))),
                }
                next += 1;
            }
            _ => return None,
        }
    }
    Some(pieces)
}

fn push_text(pieces: &mut Vec<Piece>, more: &[u8]) {
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        text.extend_from_slice(more);
    } else if !more.is_empty() {
        pieces.push(Piece::Text(more.to_vec()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(format: &str) -> Option<Vec<Piece>> {
        pieces(format.as_bytes(), 1, &|i| match i {
            2 => Some(Known::Text(b"two".to_vec())),
            3 => Some(Known::Number(0x141)),
            _ => None,
        })
    }

    #[test]
    fn known_arguments_become_text() {
        let text = |t: &str| Piece::Text(t.as_bytes().to_vec());
        assert_eq!(parse("100%%\n"), Some(vec![text("100%\n")]));
        assert_eq!(parse("%s[%s]%c"), Some(vec![Piece::String(Argument::Given(1)), text("[two]A")]));
        assert_eq!(parse("%c%s"), Some(vec![Piece::Byte(Argument::LowByte(1)), text("two")]));
        assert_eq!(parse(""), Some(vec![]));
    }

    #[test]
    fn other_directives_are_opaque() {
        for format in ["%d", "%5s", "%-c", "%n", "%1$s", "%ls", "50%"] {
            assert_eq!(parse(format), None, "{format}");
        }
    }
}
