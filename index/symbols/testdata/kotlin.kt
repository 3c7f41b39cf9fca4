@file:JvmName("Sample")
package okhttp.sample

import java.io.File
import okhttp3.internal.*
import okio.Buffer as B

const val MAX = 10
val lazyValue by lazy { 1 }
private var counter: Int = 0

typealias Handler = (Int) -> Unit

fun topLevel(x: Int): Int = x + 1

fun String.extension(): Int {
  fun local() {}
  val inner = 1
  return length
}

inline fun <reified T> generic(t: T) {
}

/** Doc. */
@Deprecated("x")
open class Client internal constructor(
  val name: String,
) : Base(), Runnable {
  val timeout: Int
    get() = 1

  constructor() : this("x")

  override fun run() {
    println("${name} {")
  }

  companion object {
    const val TAG = "x"

    @JvmStatic
    fun create(): Client = Client()
  }

  inner class Inner {
    fun deep() {}
  }
}

data class Point(val x: Int, val y: Int)

sealed interface Shape {
  fun area(): Double
}

enum class Level(val code: Int) {
  LOW(1),
  HIGH(2) {
    override fun x() {}
  };

  fun describe() = name
}

object Registry {
  fun register() {}
}

annotation class Marker
