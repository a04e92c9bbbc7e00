//! A scripted language model on loopback, for driving real agents without a login.
//!
//! It speaks the four dialects that the agents of `agents/` use, and what it says
//! depends on a word in the prompt alone (see [`script`]). Its first line on stdout is its
//! address; each further line is one entry of its [`journal`]. A number on its stdin comes
//! back there as a mark, behind all that was written before. It ends when its stdin does, so
//! it never outlives the program that started it.

mod arguments;
mod dialect;
mod journal;
mod script;
mod server;

use std::future::IntoFuture;
use std::io::{self, BufRead};

use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    journal::begin(&format!("http://{}", listener.local_addr()?));
    let stdin_ends = tokio::task::spawn_blocking(|| {
        let lines = io::stdin().lock().lines().map_while(Result::ok);
        lines.for_each(|line| journal::mark(&line));
    });
    tokio::select! {
        served = axum::serve(listener, server::router()).into_future() => served,
        _ = stdin_ends => Ok(()),
    }
}
