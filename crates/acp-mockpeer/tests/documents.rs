//! What the documents show is what is understood.

use acp_mockpeer::{Play, Scenario};

#[test]
fn scenarios_in_documents_are_scenarios() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut count = 0;
    for name in ["docs/scenarios.md", "crates/acp-mockpeer/README.md"] {
        let text = std::fs::read_to_string(format!("{root}/{name}")).unwrap();
        for block in text.split("```acpt\n").skip(1) {
            let (block, _) = block.split_once("\n```").unwrap();
            let scenario = Scenario::parse(name, &format!("{block}\n"));
            let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
            Play::client(&scenario).check().unwrap();
            count += 1;
        }
    }
    assert!(count >= 4, "only {count} scenarios were found");
}

/// The tables of rules and scenarios are those of the suite.
#[test]
fn the_page_of_the_suite_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page
        .split_once("<!-- begin: cargo xtask conformance -->\n")
        .unwrap();
    let (tables, _) = rest
        .split_once("<!-- end: cargo xtask conformance -->\n")
        .unwrap();
    assert!(
        tables == acp_mockpeer::suite::markdown(),
        "run `cargo xtask conformance`"
    );
}
