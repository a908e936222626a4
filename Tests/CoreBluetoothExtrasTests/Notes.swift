import CoreBluetooth
import CoreBluetoothExtras
import Synchronization

/// A number that tasks count up.
final class Counter: Sendable {
    private let count = Mutex(0)

    func add() { _ = next() }

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }

    var value: Int { count.withLock { $0 } }
}

/// Entries that several tasks add, in order.
final class Notes<Note: Sendable>: Sendable {
    private let notes = Mutex<[Note]>([])

    func add(_ note: Note) { notes.withLock { $0.append(note) } }
    var all: [Note] { notes.withLock { $0 } }
}

typealias Lines = Notes<String>

extension Lines {
    /// Adds an entry about the outcome of a call.
    func end(_ what: String, _ body: () async throws -> Void) async {
        do {
            try await body()
            add("\(what) done")
        } catch {
            add("\(what) failed: \(Self.text(error))")
        }
    }

    static func text(_ error: any Error) -> String {
        switch error {
        case let error as CBError: "CBError \(error.code.rawValue)"
        case let error as CBATTError: "CBATTError \(error.code.rawValue)"
        case ExtrasError.notPoweredOn(let state): "not powered on: \(state.rawValue)"
        default: "\(error)"
        }
    }
}
