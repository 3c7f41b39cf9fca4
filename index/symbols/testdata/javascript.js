'use strict'
const path = require('path')
const { join, resolve: r } = require("./util/path")
import def, { named } from './mod.js'
export { x } from './x'

const LIMIT = 5
var old = 1, older = 2
let handler = (req, res) => {
  res.end()
}
const fn = function () { return 1 }

async function load(url) {
  const m = await import('./dynamic.js')
  return m
}

class Animal extends Base {
  static #count = 0
  name = 'x'
  constructor(name) {
    super()
    this.name = name
  }
  speak() {
    return `${this.name} makes a ${'{{{'} noise`
  }
  static async *create() {}
  get age() { return 1 }
}

Animal.prototype.run = function run(speed) {
  return speed
}

module.exports = { load, Animal }
exports.helper = function () {}
module.exports.other = () => 1

export default class Widget { render() { return null } }
