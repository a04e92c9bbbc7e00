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
