use super::*;

fn id(text: &str) -> acp_host::SessionId {
    acp_host::SessionId::new(text).unwrap()
}

fn entry(number: usize, cwd: &str) -> CatalogEntry {
    CatalogEntry::new(id(&format!("s-{number:04}"))).with_cwd(cwd)
}

/// A catalog that gives what is asked for, and no more.
fn pages_natively(all: &[CatalogEntry], query: &CatalogQuery) -> Vec<CatalogEntry> {
    let mut all: Vec<_> = all.to_vec();
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all.into_iter()
        .filter(|entry| query.after.as_ref().is_none_or(|after| entry.id > *after))
        .filter(|entry| query.cwd.is_none() || entry.cwd == query.cwd)
        .take(query.limit)
        .collect()
}

/// Reads page by page until the end.
fn read_all(
    list: impl Fn(&CatalogQuery) -> Vec<CatalogEntry>,
    cwd: Option<&str>,
    live: &HashMap<SessionId, PathBuf>,
) -> (Vec<String>, usize) {
    let mut query = CatalogQuery::new(PAGE + 1);
    query.cwd = cwd.map(PathBuf::from);
    let (mut ids, mut pages) = (Vec::new(), 0);
    loop {
        let page = Page::cut(list(&query), &query, live);
        assert!(page.entries.len() <= PAGE);
        pages += 1;
        ids.extend(page.entries.iter().map(|entry| entry.id.to_string()));
        match page.more_after {
            Some(after) => query.after = Some(after),
            None => return (ids, pages),
        }
    }
}

#[test]
fn every_session_is_on_exactly_one_page() {
    let none = HashMap::new();
    for count in [0, 1, 99, 100, 101, 250, 300] {
        // Out of order, and of two folders.
        let all: Vec<_> = (0..count)
            .rev()
            .map(|n| entry(n, if n % 3 == 0 { "/a" } else { "/b" }))
            .collect();
        let want = |keep: &dyn Fn(usize) -> bool| -> Vec<String> {
            (0..count)
                .filter(|n| keep(*n))
                .map(|n| format!("s-{n:04}"))
                .collect()
        };
        for (cwd, keep) in [
            (None, &(|_| true) as &dyn Fn(usize) -> bool),
            (Some("/a"), &|n| n % 3 == 0),
            (Some("/c"), &|_| false),
        ] {
            let (ids, _) = read_all(|_| all.clone(), cwd, &none);
            assert_eq!(ids, want(keep), "all of {count} at once, {cwd:?}");
            let (ids, pages) = read_all(|query| pages_natively(&all, query), cwd, &none);
            assert_eq!(ids, want(keep), "{count} by pages, {cwd:?}");
            assert!(pages <= want(keep).len() / PAGE + 1);
        }
    }
}

#[test]
fn a_live_session_knows_its_folder_best() {
    let live = HashMap::from([
        (SessionId::from("s-0001"), PathBuf::from("/moved")),
        (SessionId::from("s-0002"), PathBuf::from("/known")),
    ]);
    let mut unknown = entry(2, "/");
    unknown.cwd = None;
    let mut nowhere = entry(3, "/");
    nowhere.cwd = None;
    let all = [entry(0, "/a"), entry(1, "/a"), unknown, nowhere];
    let (ids, _) = read_all(|_| all.to_vec(), None, &live);
    assert_eq!(ids, ["s-0000", "s-0001", "s-0002"]);
    let (ids, _) = read_all(|_| all.to_vec(), Some("/moved"), &live);
    assert_eq!(ids, ["s-0001"]);
    let (ids, _) = read_all(|_| all.to_vec(), Some("/a"), &live);
    assert_eq!(ids, ["s-0000"]);
}

#[test]
fn a_page_has_a_budget_in_bytes() {
    let long = |number: usize| entry(number, &format!("/{}", "d".repeat(4_000)));
    let all: Vec<_> = (0..150).map(long).collect();
    let (ids, pages) = read_all(|query| pages_natively(&all, query), None, &HashMap::new());
    assert_eq!(ids.len(), 150);
    assert_eq!(pages, 3, "64 of them fill a page");
    // One that is larger than a page stands alone.
    let mut huge = entry(0, "/a");
    huge.title = Some("t".repeat(2 * MAX_LIST_PAGE));
    let all = [huge, entry(1, "/b")];
    let (ids, pages) = read_all(|_| all.to_vec(), None, &HashMap::new());
    assert_eq!((ids.len(), pages), (2, 2));
}
