use super::*;

fn declared(source: &str) -> Vec<String> {
    declared::in_file(&syn::parse_file(source).unwrap())
}

#[test]
fn limits_are_in_bytes_where_their_first_sentence_says_so() {
    let source = "
        /// Bytes of a name. Names are short.
        pub const MAX_NAME: usize = 8;
        /// Entries of a list. Each has some hundred bytes.
        pub const MAX_ENTRIES: usize = 8;
        /// How long reading some bytes may take.
        pub const TIME: Duration = Duration::ZERO;
        pub struct Limits {
            /// Queued bytes at which
            /// senders wait.
            pub queued: usize,
            /// Calls.
            pub calls: usize,
        }";
    assert_eq!(declared(source), ["MAX_NAME", "queued"]);
}

#[test]
fn tests_are_found_by_their_attributes() {
    let source = "
        #[test] fn plain() {}
        fn helper() {}
        mod inner { #[tokio::test(start_paused = true)] async fn paused() {} }";
    let mut found = BTreeSet::new();
    tests_of::collect(&syn::parse_file(source).unwrap().items, &mut found);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["paused", "plain"]);
}

#[test]
fn each_difference_is_told() {
    let limit = |name: &str| Declared {
        krate: "a".to_owned(),
        room: String::new(),
        name: name.to_owned(),
        file: "a/src/limits.rs".into(),
    };
    let limits = [limit("X"), limit("Y"), limit("Z")];
    let rows =
        table::read("# rows\na::X sends_more\na::Y b::gone\na::W sends_more\na::X sends_more\n");
    let tests = BTreeMap::from([("a".to_owned(), BTreeSet::from(["sends_more".to_owned()]))]);
    let faults = compare(&limits, &rows.unwrap(), &tests);
    let said = [
        "a::Z has no test: send more than it and add a row to .ci/limits (a/src/limits.rs)",
        "a::Y: b has no test `gone`",
        ".ci/limits names a::W, and there is no such limit in bytes",
        ".ci/limits names a::X twice",
    ];
    assert_eq!(faults, said);
    assert!(table::read("a::X").is_err());
    assert!(table::read("X sends_more").is_err());
}

#[test]
fn the_workspace_is_in_order() {
    verify().unwrap();
}
