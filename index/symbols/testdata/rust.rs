//! Crate doc.
#![allow(dead_code)]
extern crate serde;
use std::collections::{HashMap, hash_map::{self, Entry}};
use crate::net::TcpStream as Stream;
use super::sibling::*;
pub(crate) use self::inner::Thing;

mod other;
pub mod inner {
    pub struct Thing;
    pub fn helper() -> u8 { 1 }
}

pub const MAX: usize = 10;
static mut COUNT: u32 = 0;

/// Doc comment.
#[derive(Debug)]
pub struct Point<T> {
    pub x: T,
    y: T,
}

pub enum Shape {
    Circle(f64),
    Square { side: f64 },
}

union Bits { a: u32, b: f32 }

pub type Result<T> = std::result::Result<T, Error>;

pub trait Draw: Send {
    type Output;
    const ID: u32;
    fn draw(&self);
    fn twice(&self) { self.draw(); self.draw() }
}

impl<T> Point<T> {
    pub const ORIGIN: u8 = 0;
    pub fn new(x: T, y: T) -> Self {
        fn nested() {}
        Self { x, y }
    }
}

impl<T: Clone> Draw for Point<T> where T: Send {
    type Output = T;
    const ID: u32 = 1;
    fn draw(&self) {}
}

#[macro_export]
macro_rules! my_vec {
    () => {};
}

extern "C" {
    fn external(x: i32) -> i32;
}

cfg_rt! {
    mod runtime;
    pub use runtime::Handle;

    pub async fn spawn<F>(f: F) {
        f.await
    }
}

async unsafe fn main() {
    let v = 'a';
    loop {}
}
