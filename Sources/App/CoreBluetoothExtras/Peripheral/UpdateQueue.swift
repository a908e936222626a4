import CoreBluetooth
import Foundation
import Synchronization

/// Updates that wait for room, in the order in which they were requested.
final class UpdateQueue: Sendable {
    struct Entry: Sendable {
        let value: Data
        let characteristic: CBMutableCharacteristic
        let centrals: [CBCentral]?
        let call = Wait<Void>()
    }

    // Held while sending as well, so that two threads cannot change the order.
    private let waiting = Mutex<[Entry]>([])

    var count: Int { waiting.withLock { entries in entries.count { !$0.call.isOver } } }

    /// Appends an update. Returns false if there are too many.
    func add(_ entry: Entry) -> Bool {
        waiting.withLock {
            $0.removeAll { $0.call.isOver }
            guard $0.count < PeripheralExtras.maximumCalls else { return false }
            $0.append(entry)
            return true
        }
    }

    func send(by manager: CBPeripheralManager) {
        var settled: [(Wait<Void>, ExtrasError?)] = []
        waiting.withLock { entries in
            var done = 0
            sending: for entry in entries {
                if let maximum = entry.shortestLimit, entry.value.count > maximum {
                    settled.append((entry.call, .tooLong(maximum: maximum)))
                } else {
                    let outcome = manager.send(
                        entry.value,
                        for: entry.characteristic,
                        to: entry.centrals,
                        claim: entry.call.claim
                    )
                    switch outcome {
                    case .sent: settled.append((entry.call, nil))
                    case .withdrawn: break
                    case .unknown: settled.append((entry.call, .notPublished))
                    case .off: settled.append((entry.call, .notPoweredOn(manager.state)))
                    case .full: break sending
                    }
                }
                done += 1
            }
            entries.removeFirst(done)
        }
        for (call, error) in settled { call.end(error) }
    }

    func endAll(_ error: ExtrasError) {
        let ended = waiting.withLock { entries in
            defer { entries = [] }
            return entries
        }
        for entry in ended { entry.call.end(error) }
    }
}

extension UpdateQueue.Entry {
    /// The longest value that every recipient accepts, in octets. Nil if there is no recipient.
    fileprivate var shortestLimit: Int? {
        let wanted = centrals.map { Set($0.map(\.identifier)) }
        return (characteristic.subscribedCentrals ?? [])
            .filter { wanted?.contains($0.identifier) ?? true }
            .map(\.maximumUpdateValueLength)
            .min()
    }
}
