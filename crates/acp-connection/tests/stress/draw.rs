//! Numbers that look random, and are the same again for the same seed.

/// A stream of numbers. Every part of a run draws from its own, so that one
/// part that draws more often does not change what the others do.
#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    /// Starts the stream of one part of a run.
    pub(crate) fn new(seed: u64, part: &str) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for byte in part.bytes() {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        Self(state)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64: good enough to mix a counter, and needs no crate.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// A length below `bound`.
    pub(crate) fn length(&mut self, bound: u64) -> usize {
        usize::try_from(self.below(bound)).unwrap_or_default()
    }

    /// True `percent` times of a hundred.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.length(of.len() as u64)]
    }
}
