import fs from 'node:fs'
import type { A, B } from "./types"
import * as all from '../all'
import './side-effect'
import legacy = require('legacy')
export * from './reexport'
export { default as Named, other } from './named'

export const VERSION: string = '1.0'
export let counter = 0
const arrow = async (x: number): Promise<number> => {
  const local = 1
  return x + local
}
export const { destructured, other: renamed } = all as any

export default function main<T>(arg: T): T {
  const lazy = () => import('./lazy')
  function inner() {}
  return arg
}

function overload(a: string): void
function overload(a: number): void
function overload(a: any): void {}

function* generate() { yield 1 }

export interface Shape extends A {
  area(): number
  readonly name: string
}

export type Alias<T> = T | null

export enum Color { Red, Green = 2 }

declare const enum Flags { None = 0 }

@Component({ selector: 'x' })
export abstract class Widget<T> extends Base implements Shape {
  static count = 0
  private readonly handler = (e: Event) => { this.on(e) }
  #secret = 1
  constructor(private x: number) { super() }
  get value(): number { return this.x }
  set value(v) { this.x = v }
  async load(): Promise<void> {
    await import("./deferred")
  }
  abstract draw(): void
}

namespace Outer.Inner {
  export function inside() {}
  export class Nested { method() {} }
}

declare module 'ambient' {
  export function declared(x: number): void
}

declare global {
  interface Window { custom: string }
}

const cls = class Local { m() {} }
const fnExpr = function namedExpr() {}
