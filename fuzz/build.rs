//! Sets `cfg(fuzzing)` for every compiler: modules that a target includes offer their check
//! only where it is set, and `cargo clippy` sets it by itself nowhere.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(fuzzing)");
    println!("cargo::rustc-cfg=fuzzing");
    println!("cargo::rerun-if-changed=build.rs");
}
