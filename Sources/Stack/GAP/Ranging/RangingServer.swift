import BluetoothTypes

/// The server of the Ranging Service for one client: which data it sends when (RAS 1.0).
///
/// With a subscription to Real-time Ranging Data each procedure's data are sent at once. Otherwise they are kept, and
/// the client is told that they are ready, or that they have been overwritten before it asked.
package struct RangingServer {
    /// The value of RAS Features: real-time data, and none of the optional operations.
    package static let features: [UInt8] = [1, 0, 0, 0]
    /// The number of procedures whose data are kept.
    package static let maximumKept = 4

    package enum Event: Hashable {
        case measured(counter: UInt16, data: [UInt8])
        case written(PacketBuffer)
    }

    /// What to send, by characteristic.
    package enum Action: Hashable {
        case realTime([UInt8])
        case onDemand([UInt8])
        case ready(counter: UInt16)
        case overwritten(counter: UInt16)
        case respond(RangingResponse)
    }

    /// Whether the client has subscribed to Real-time Ranging Data.
    package var isRealTime = false
    private var kept: [(counter: UInt16, data: [UInt8])] = []

    package init() {}

    package mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .measured(_, let data) where isRealTime: [.realTime(data)]
        case .measured(let counter, let data): keep(counter, data)
        case .written(let value): answer(value)
        }
    }

    private mutating func keep(_ counter: UInt16, _ data: [UInt8]) -> [Action] {
        var actions: [Action] = []
        kept.removeAll { $0.counter == counter }
        if kept.count == Self.maximumKept { actions.append(.overwritten(counter: kept.removeFirst().counter)) }
        kept.append((counter, data))
        return actions + [.ready(counter: counter)]
    }

    private mutating func answer(_ value: PacketBuffer) -> [Action] {
        let command: RangingCommand?
        do throws(PacketError) {
            command = try RangingCommand(reading: value)
        } catch {
            return [.respond(.code(.invalidParameter))]
        }
        switch command {
        case nil: return [.respond(.code(.notSupported))]
        case .getData(let counter)?:
            guard let found = kept.first(where: { $0.counter == counter }) else {
                return [.respond(.code(.noRecords))]
            }
            return [.onDemand(found.data), .respond(.complete(counter: counter))]
        case .acknowledge(let counter)?:
            guard kept.contains(where: { $0.counter == counter }) else { return [.respond(.code(.noRecords))] }
            kept.removeAll { $0.counter == counter }
            return [.respond(.code(.success))]
        }
    }
}
