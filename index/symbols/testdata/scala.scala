package com.example
package object util

import scala.collection.mutable
import com.example.{Foo, Bar => Baz}
import com.other._

sealed trait Shape {
  def area: Double
  val name: String = "x"
  type T
}

case class Circle(r: Double) extends Shape {
  def area: Double = {
    def local = 1
    3.14 * r * r
  }
}

object Main extends App {
  private val Max = 10
  var counter = 0
  def run(args: Array[String]): Unit = {
    println(s"{$args")
  }
  class Nested { def deep() = 1 }
}

abstract class Base[T](x: Int) {
  protected def make(): T
}

type Alias = Int
