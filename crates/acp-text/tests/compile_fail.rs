//! What must not compile: text on its way to a screen that nobody has cleaned.

#[test]
fn text_that_was_not_cleaned_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
}
