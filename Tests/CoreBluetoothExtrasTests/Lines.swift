import CoreBluetooth
import CoreBluetoothExtras
import TestBasics

/// Texts that several tasks add, in order.
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
