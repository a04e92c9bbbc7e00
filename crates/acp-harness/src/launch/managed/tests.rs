use std::future::pending;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::Notify;

use super::*;
use crate::Secret;
use crate::launch::{BoxError, ConnectError, ProxyFault};

/// What happened, in order.
#[derive(Clone, Default)]
struct Log(Arc<(Mutex<Vec<&'static str>>, Notify)>);

impl Log {
    fn add(&self, what: &'static str) {
        self.0.0.lock().push(what);
        self.0.1.notify_waiters();
    }

    fn all(&self) -> Vec<&'static str> {
        self.0.0.lock().clone()
    }

    /// Waits until something has happened.
    async fn until(&self, what: &'static str) {
        loop {
            let mut notified = std::pin::pin!(self.0.1.notified());
            notified.as_mut().enable();
            if self.all().contains(&what) {
                return;
            }
            notified.await;
        }
    }
}

/// How a step goes.
#[derive(Clone, Copy, Default, PartialEq)]
enum Goes {
    #[default]
    Well,
    Wrong,
    Nowhere,
    Mad,
}

#[derive(Clone, Default)]
struct Fake {
    log: Log,
    start: Goes,
    unready: bool,
    configure: Goes,
    agent: Goes,
    close: Goes,
}

struct FakeProxy(Fake);

impl Goes {
    async fn go(self) -> Result<(), BoxError> {
        match self {
            Self::Well => Ok(()),
            Self::Wrong => Err("no luck".into()),
            Self::Nowhere => pending().await,
            Self::Mad => panic!("on purpose"),
        }
    }
}

impl ModelProxy for FakeProxy {
    async fn start(&self) -> Result<(), BoxError> {
        self.0.log.add("start");
        self.0.start.go().await
    }

    fn binding(&self) -> Option<ProxyBinding> {
        self.0.log.add("binding");
        (!self.0.unready).then(binding)
    }

    async fn close(&self) -> Result<(), BoxError> {
        self.0.log.add("close");
        self.0.close.go().await
    }
}

struct FakeConnector(Fake);

impl Connector for FakeConnector {
    fn check(&self, _: &Launch) -> Result<(), ConnectError> {
        self.0.log.add("check");
        match self.0.configure {
            Goes::Nowhere => Err(ConnectError::HalfAPair),
            _ => Ok(()),
        }
    }

    fn configure(&self, launch: &Launch, told: &ProxyBinding) -> Result<Launch, ConnectError> {
        assert_eq!(*told, binding());
        self.0.log.add("configure");
        match self.0.configure {
            Goes::Wrong => Err(ConnectError::HalfAPair),
            _ => Ok(launch.clone()),
        }
    }
}

impl NativeConnector for FakeConnector {
    fn configure_native(&self, launch: &Launch) -> Result<Launch, ConnectError> {
        self.0.log.add("native");
        Ok(launch.clone())
    }
}

fn binding() -> ProxyBinding {
    ProxyBinding::new("http://127.0.0.1:9", Secret::new("s3cret"))
}

impl Fake {
    fn launch() -> Launch {
        Launch::new("/opt/agent")
    }

    fn owning(&self) -> ManagedLaunch {
        let (connector, proxy) = (FakeConnector(self.clone()), FakeProxy(self.clone()));
        self.over(ManagedLaunch::owning(Self::launch(), connector, proxy))
    }

    /// With an agent in this process.
    fn over(&self, mut launch: ManagedLaunch) -> ManagedLaunch {
        let fake = self.clone();
        launch.connect = Box::new(move |_, options| {
            fake.log.add("spawn");
            let (ours, theirs) = duplex(1 << 10);
            tokio::spawn(fake.agent(theirs));
            let (reader, writer) = tokio::io::split(ours);
            Client::over(reader, writer, options)
        });
        launch
    }

    /// Introduces itself, dies when it is called upon, and tells the end of its input.
    async fn agent(self, mut pipe: DuplexStream) {
        if self.agent == Goes::Wrong {
            return;
        }
        let (reader, mut writer) = tokio::io::split(&mut pipe);
        let mut lines = BufReader::new(reader).lines();
        let first = lines.next_line().await.unwrap().unwrap();
        if self.agent == Goes::Nowhere {
            while let Ok(Some(_)) = lines.next_line().await {}
            self.log.add("hang-up");
            return;
        }
        let request: serde_json::Value = serde_json::from_str(&first).unwrap();
        let id = &request["id"];
        let answer =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"protocolVersion\":1}}}}\n");
        writer.write_all(answer.as_bytes()).await.unwrap();
        if self.agent == Goes::Mad {
            return;
        }
        let mut rest = String::new();
        let _ = lines.into_inner().read_to_string(&mut rest).await;
        self.log.add("hang-up");
    }

    async fn refused(&self) -> ManagedError {
        self.owning().dial(ClientOptions::new()).await.unwrap_err()
    }
}

const UP: [&str; 5] = ["check", "start", "binding", "configure", "spawn"];

fn up_and(then: &[&'static str]) -> Vec<&'static str> {
    [&UP, then].concat()
}

#[tokio::test(start_paused = true)]
async fn an_owned_proxy_is_started_first_and_closed_last_once() {
    let fake = Fake::default();
    let managed = fake.owning().dial(ClientOptions::new()).await.unwrap();
    assert_eq!(fake.log.all(), UP);
    // A request that fails closes nothing.
    assert!(managed.client().new_session("not/absolute").await.is_err());
    assert_eq!(fake.log.all(), UP);
    let (one, other) = tokio::join!(managed.close(), managed.close());
    assert!(one.unwrap().is_none() && other.unwrap().is_none());
    fake.log.until("hang-up").await;
    managed.close().await.unwrap();
    drop(managed);
    let closes = fake
        .log
        .all()
        .iter()
        .filter(|what| **what == "close")
        .count();
    assert_eq!(closes, 1);
}

#[tokio::test(start_paused = true)]
async fn every_step_that_fails_ends_what_was_started() {
    let no_proxy = Fake {
        configure: Goes::Nowhere,
        ..Fake::default()
    };
    let refused = no_proxy.refused().await;
    assert!(matches!(refused.cause(), ManagedCause::Connect(_)));
    assert_eq!(no_proxy.log.all(), ["check"]);

    let no_start = Fake {
        start: Goes::Wrong,
        ..Fake::default()
    };
    let refused = no_start.refused().await;
    assert_eq!(refused.to_string(), "start the model proxy");
    assert_eq!(no_start.log.all(), ["check", "start"]);

    // Nobody knows how far these came.
    for start in [Goes::Nowhere, Goes::Mad] {
        let given_up = Fake {
            start,
            ..Fake::default()
        };
        let refused = given_up.refused().await;
        assert!(matches!(refused.cause(), ManagedCause::ProxyStart(_)));
        assert_eq!(given_up.log.all(), ["check", "start", "close"]);
    }

    let unready = Fake {
        unready: true,
        ..Fake::default()
    };
    let refused = unready.refused().await;
    assert_eq!(
        refused.to_string(),
        "start the model proxy: it is not ready"
    );
    assert_eq!(unready.log.all(), ["check", "start", "binding", "close"]);

    let untold = Fake {
        configure: Goes::Wrong,
        ..Fake::default()
    };
    let refused = untold.refused().await;
    assert!(matches!(refused.cause(), ManagedCause::Connect(_)));
    assert_eq!(untold.log.all()[3..], ["configure", "close"]);

    let dead = Fake {
        agent: Goes::Wrong,
        ..Fake::default()
    };
    let refused = dead.refused().await;
    assert!(
        matches!(refused.cause(), ManagedCause::Agent(_)),
        "{refused}"
    );
    assert_eq!(dead.log.all(), up_and(&["close"]));
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_while_unwinding_is_told_beside_the_cause() {
    for (close, told) in [
        (Goes::Wrong, "it failed"),
        (Goes::Nowhere, "it was not done within 10 s"),
        (Goes::Mad, "its code panicked"),
    ] {
        let fake = Fake {
            unready: true,
            close,
            ..Fake::default()
        };
        let refused = fake.refused().await;
        let expected =
            format!("start the model proxy: it is not ready (and close the model proxy: {told})");
        assert_eq!(refused.to_string(), expected);
        assert!(refused.unwinding().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn who_stops_waiting_leaves_nothing_behind() {
    let at_start = Fake {
        start: Goes::Nowhere,
        ..Fake::default()
    };
    let dialing = tokio::spawn(at_start.owning().dial(ClientOptions::new()));
    at_start.log.until("start").await;
    dialing.abort();
    at_start.log.until("close").await;

    let at_agent = Fake {
        agent: Goes::Nowhere,
        ..Fake::default()
    };
    let dialing = tokio::spawn(at_agent.owning().dial(ClientOptions::new()));
    at_agent.log.until("spawn").await;
    dialing.abort();
    at_agent.log.until("hang-up").await;
    at_agent.log.until("close").await;
}

#[tokio::test(start_paused = true)]
async fn the_death_of_the_agent_closes_its_proxy() {
    let fake = Fake {
        agent: Goes::Mad,
        ..Fake::default()
    };
    let managed = fake.owning().dial(ClientOptions::new()).await.unwrap();
    fake.log.until("close").await;
    // What was closed is closed: its end is told once more.
    assert!(managed.close().await.is_ok());
    assert_eq!(fake.log.all(), up_and(&["close"]));
}

#[tokio::test(start_paused = true)]
async fn dropping_it_or_closing_the_client_by_hand_closes_both() {
    let fake = Fake::default();
    let managed = fake.owning().dial(ClientOptions::new()).await.unwrap();
    let client = managed.client().clone();
    drop(managed);
    fake.log.until("close").await;
    fake.log.until("hang-up").await;
    assert!(client.new_session("/").await.is_err());

    let fake = Fake::default();
    let managed = fake.owning().dial(ClientOptions::new()).await.unwrap();
    managed.client().clone().close().await;
    fake.log.until("close").await;
}

#[tokio::test(start_paused = true)]
async fn what_closes_badly_is_told() {
    let fake = Fake {
        close: Goes::Wrong,
        ..Fake::default()
    };
    let managed = fake.owning().dial(ClientOptions::new()).await.unwrap();
    for _ in 0..2 {
        let error = managed.close().await.unwrap_err();
        assert_eq!(error.to_string(), "close the model proxy: it failed");
        assert!(matches!(error.proxy, Some(ProxyFault::Failed(_))));
        assert!(error.connection.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn borrowers_and_natives_touch_no_proxy() {
    let owner = Fake::default();
    let owned = owner.owning().dial(ClientOptions::new()).await.unwrap();
    let borrower = Fake::default();
    let connector = FakeConnector(borrower.clone());
    let launch = ManagedLaunch::sharing(Fake::launch(), connector, binding());
    let launch = borrower.over(launch);
    let borrowed = launch.dial(ClientOptions::new()).await.unwrap();
    borrowed.close().await.unwrap();
    borrower.log.until("hang-up").await;
    let expected = ["check", "configure", "spawn", "hang-up"];
    assert_eq!(borrower.log.all(), expected);
    assert_eq!(owner.log.all(), UP, "the owner goes on");
    owned.close().await.unwrap();

    let native = Fake::default();
    let launch = ManagedLaunch::native(Fake::launch(), FakeConnector(native.clone()));
    let launch = native.over(launch);
    launch
        .dial(ClientOptions::new())
        .await
        .unwrap()
        .close()
        .await
        .unwrap();
    native.log.until("hang-up").await;
    assert_eq!(native.log.all(), ["native", "spawn", "hang-up"]);
}

#[tokio::test]
async fn nothing_secret_is_shown() {
    let fake = Fake::default();
    let launch = Fake::launch().with_env("KEY", "s3cret");
    let launch = ManagedLaunch::sharing(launch, FakeConnector(fake), binding());
    let shown = format!("{launch:?}");
    assert!(
        !shown.contains("s3cret") && shown.contains("shared proxy"),
        "{shown}"
    );
}
