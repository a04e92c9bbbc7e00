//! Gets over values that nobody reads, or that are read later.

use super::{MAX_DEPTH, Reader, Result, refuse, strings};

impl Reader<'_> {
    /// Gets over a value, and makes sure that it is one.
    pub(super) fn skip(&mut self) -> Result {
        // A bit for each that is open, the innermost the lowest: it is an object.
        let (mut objects, mut depth) = (0_u128, 0);
        loop {
            match self.peek() {
                Some(b'"') => self.skip_string()?,
                Some(b'-' | b'0'..=b'9') => self.skip_number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                Some(open @ (b'{' | b'[')) => {
                    if depth == MAX_DEPTH {
                        return refuse();
                    }
                    self.at += 1;
                    let is_object = open == b'{';
                    objects = objects << 1 | u128::from(is_object);
                    depth += 1;
                    if is_object && self.peek() != Some(b'}') {
                        self.skip_name()?;
                        continue;
                    }
                    if !is_object && self.peek() != Some(b']') {
                        continue;
                    }
                }
                _ => return refuse(),
            }
            // A value is done, or what was opened is closed at once.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let is_object = objects & 1 == 1;
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if is_object {
                            self.skip_name()?;
                        }
                        break;
                    }
                    Some(b'}') if is_object => {}
                    Some(b']') if !is_object => {}
                    _ => return refuse(),
                }
                self.at += 1;
                objects >>= 1;
                depth -= 1;
            }
        }
    }

    /// Gets over a value that is read later: what it takes to find its end.
    pub(super) fn pass(&mut self) -> Result {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let behind = self.at + 1;
                    match strings::end(&bytes[behind..]) {
                        Some(length) => self.at = behind + length,
                        None => return refuse(),
                    }
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 1 => depth -= 1,
                b'}' | b']' if depth == 1 => depth = 0,
                // Behind a number or a word.
                b'}' | b']' | b',' | b' ' | b'\n' | b'\t' | b'\r' if depth == 0 => return Ok(()),
                _ if depth > 0 => {}
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        if depth == 0 { Ok(()) } else { refuse() }
    }

    /// Gets over the name of a member, and the colon behind it.
    fn skip_name(&mut self) -> Result {
        if self.peek() != Some(b'"') {
            return refuse();
        }
        self.skip_string()?;
        self.expect(b':')
    }

    fn skip_string(&mut self) -> Result {
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            self.at += strings::plain(&bytes[self.at..]);
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let escape = &bytes[self.at + 1..];
                    self.at += match escape {
                        [b'u', digits @ ..] => match strings::unit(digits) {
                            Some(_) => 6,
                            None => return refuse(),
                        },
                        [byte, ..] if strings::escaped(*byte).is_some() => 2,
                        _ => return refuse(),
                    };
                }
                _ => return refuse(),
            }
        }
    }

    /// Gets over a number, which begins here.
    pub(super) fn skip_number(&mut self) -> Result {
        let bytes = self.text.as_bytes();
        let digits = |at: usize| {
            let is_digit = |byte: &&u8| byte.is_ascii_digit();
            at + bytes[at..].iter().take_while(is_digit).count()
        };
        let start = self.at + usize::from(bytes[self.at] == b'-');
        let mut at = digits(start);
        if at == start || (bytes[start] == b'0' && at > start + 1) {
            return refuse();
        }
        if bytes.get(at) == Some(&b'.') {
            let fraction = at + 1;
            at = digits(fraction);
            if at == fraction {
                return refuse();
            }
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            at = digits(exponent);
            if at == exponent {
                return refuse();
            }
        }
        self.at = at;
        Ok(())
    }
}
