import Foundation
import class UIKit.UIView
@testable import MyApp

let maxCount = 10
var counter: Int = 0
typealias Handler = (Int) -> Void

func topLevel(_ x: Int) -> Int {
    func nested() {}
    return x
}

public final class Client: Base, Runnable {
    static let shared = Client()
    private var name: String { return "{" }

    init(name: String) {
        self.name = name
    }

    deinit {}

    @discardableResult
    func run<T>(_ t: T) async throws -> T { t }

    enum State: String {
        case idle, running
        case failed
        func describe() -> String { "" }
    }
}

struct Point { let x: Int; var y: Int }

protocol Shape {
    var area: Double { get }
    func draw()
}

extension Point: Shape {
    func draw() {}
}

actor Counter { func inc() {} }
