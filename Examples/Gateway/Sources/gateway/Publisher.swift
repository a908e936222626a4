import CMosquitto
import Foundation
import GatewayStore
import SensorRecords
import Synchronization

/// A store for several threads. In turn, instead of several connections to the database, which poll when it is locked.
final class SharedStore: Sendable {
    private let store: Mutex<Store>

    init(_ store: sending Store) {
        self.store = Mutex(store)
    }

    func use<Result: Sendable>(_ body: (Store) throws -> Result) rethrows -> Result {
        try store.withLock { try body($0) }
    }
}

/// Publishes the records of a store with quality of service 1, and removes those that the broker has acknowledged.
///
/// Each connection has a client of its own, so that the library never repeats a message by itself: messages without an
/// acknowledgement come from the store again, marked as repeated. Used on one thread.
final class Publisher {
    private let name: String
    private let host: String
    private let port: Int32
    private let store: SharedStore
    /// The records that the broker has not acknowledged, by number of message.
    private var inFlight: [Int32: Int64] = [:]
    private var acknowledged: [Int64] = []
    private var isConnected = false
    private var hasFailed = false

    init(name: String, host: String, port: Int32, store: SharedStore) {
        (self.name, self.host, self.port, self.store) = (name, host, port, store)
        mosquitto_lib_init()
    }

    /// Publishes until the process ends.
    func run() throws -> Never {
        while true {
            try store.use { try $0.forgetConnection() }
            try runConnection()
            usleep(Limits.brokerPause)
        }
    }

    private func runConnection() throws {
        (inFlight, acknowledged, isConnected, hasFailed) = ([:], [], false, false)
        guard let client = mosquitto_new("gateway-\(name)", true, Unmanaged.passUnretained(self).toOpaque()) else {
            return
        }
        defer { mosquitto_destroy(client) }
        mosquitto_connect_callback_set(client) { _, object, code in Publisher.of(object)?.connected(code) }
        mosquitto_disconnect_callback_set(client) { _, object, _ in Publisher.of(object)?.hasFailed = true }
        mosquitto_publish_callback_set(client) { _, object, message in Publisher.of(object)?.published(message) }
        mosquitto_max_inflight_messages_set(client, UInt32(Limits.inFlight))
        guard mosquitto_connect(client, host, port, Limits.keepAlive) == MOSQ_ERR_SUCCESS.asInt else { return }
        while !hasFailed {
            let sent = isConnected ? try publishNext(client) : 0
            // Without anything to send, it waits for the acknowledgements.
            let result = mosquitto_loop(client, sent > 0 ? 0 : 10, 1)
            guard result == MOSQ_ERR_SUCCESS.asInt else { break }
        }
        say("the broker is gone")
    }

    private static func of(_ object: UnsafeMutableRawPointer?) -> Publisher? {
        object.map { Unmanaged<Publisher>.fromOpaque($0).takeUnretainedValue() }
    }

    private func connected(_ code: Int32) {
        isConnected = code == 0
        say(
            isConnected
                ? "connected to the broker" : "the broker refuses: \(String(cString: mosquitto_connack_string(code)))"
        )
    }

    private func published(_ message: Int32) {
        if let id = inFlight.removeValue(forKey: message) { acknowledged.append(id) }
    }

    /// Publishes what there is room for. Returns the number of messages.
    private func publishNext(_ client: OpaquePointer) throws -> Int {
        let (room, removed) = (Limits.inFlight - inFlight.count, acknowledged)
        acknowledged = []
        let records = try store.use { try $0.next(room, removing: removed) }
        for each in records {
            let text = Array(json(each).utf8)
            var message: Int32 = 0
            let result = mosquitto_publish(
                client,
                &message,
                "harald/\(name)/\(each.sensor)",
                Int32(text.count),
                text,
                1,
                false
            )
            // The connection is lost, and with it all that is in flight.
            guard result == MOSQ_ERR_SUCCESS.asInt else {
                hasFailed = true
                break
            }
            inFlight[message] = each.id
        }
        return records.count
    }

    private func json(_ each: Store.Waiting) -> String {
        let mark = each.record.isRepeated ? ",\"repeated\":true" : ""
        return "{\"gateway\":\"\(name)\",\"sensor\":\"\(each.sensor)\",\"sequence\":\(each.record.sequence),"
            + "\"made\":\(each.record.time),\"received\":\(each.received),\"published\":\(microseconds()),\"value\":\(each.record.value)\(mark)}"
    }
}

extension mosq_err_t {
    fileprivate var asInt: Int32 { Int32(rawValue) }
}

/// Prints a line at once.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
