import ATT
import BluetoothTypes
import EventLoops
import GATT
import Testing

/// The result of each procedure when a server refuses one of its requests, with each error code. No procedure of
/// several requests may pass off a part as the whole.
@Suite struct PartialResultTests {
    typealias Completion = (Result<String, GATTError>) -> Void

    /// A procedure with the answers to its requests, and which refusals are a regular end.
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var answers: [[UInt8]]
        /// The result if all requests are answered.
        var whole: String
        /// By request: the error codes that end the procedure without an error, and its result then.
        var ends: [Int: [UInt8: String]] = [:]
        /// By request: the error codes that become another error.
        var others: [Int: [UInt8: GATTError]] = [:]
        var run: @Sendable (GATTClient, @escaping Completion) -> Void
    }

    private static let full = [UInt8](repeating: 7, count: 22)
    private static let long = PacketBuffer([UInt8](repeating: 1, count: 30))
    private static let service = DiscoveredService(handles: 10...20, uuid: 0x180D)
    private static let characteristic = DiscoveredCharacteristic(
        declaration: 10,
        value: 11,
        end: 20,
        properties: .notify,
        uuid: 0x2A37
    )
    private static let notFound: UInt8 = 0x0A

    private static func length(_ end: @escaping Completion) -> (Result<PacketBuffer, GATTError>) -> Void {
        { end($0.map { "\($0.count) octets" }) }
    }

    private static func count<T>(_ end: @escaping Completion) -> (Result<[T], GATTError>) -> Void {
        { end($0.map { "\($0.count) found" }) }
    }

    private static func done(_ end: @escaping Completion) -> (Result<Void, GATTError>) -> Void {
        { end($0.map { "done" }) }
    }

    private static let reads = [
        Row(testDescription: "read", answers: [[0x0B, 1, 2]], whole: "2 octets") {
            $0.read(11, completion: length($1))
        },
        Row(
            testDescription: "long read",
            answers: [[0x0B] + full, [0x0D] + full, [0x0D, 1, 2]],
            whole: "46 octets",
            // The value fills the first response, and is not long.
            ends: [1: [0x0B: "22 octets"]]
        ) { $0.read(11, completion: length($1)) },
        Row(
            testDescription: "long read that fills its responses",
            answers: [[0x0B] + full, [0x0D]],
            whole: "22 octets",
            ends: [1: [0x0B: "22 octets"]]
        ) { $0.read(11, completion: length($1)) },
        Row(testDescription: "read from an offset", answers: [[0x0D] + full, [0x0D, 1]], whole: "23 octets") {
            $0.read(11, from: 5, completion: length($1))
        },
        Row(
            testDescription: "read by type",
            answers: [[0x09, 3, 11, 0, 7], [0x09, 3, 0xFF, 0xFF, 7]],
            whole: "2 found",
            ends: [1: [notFound: "1 found"]]
        ) { $0.readValues(of: 0x2A19, completion: count($1)) },
        Row(
            testDescription: "read the one of a type",
            answers: [[0x09, 21, 11, 0] + full.dropLast(3), [0x0D, 1, 2]],
            whole: "21 octets",
            ends: [0: [notFound: "none"], 1: [0x0B: "19 octets"]]
        ) { client, end in
            client.readValue(of: 0x2A00) { end($0.map { $0.map { "\($0.value.count) octets" } ?? "none" }) }
        },
        Row(testDescription: "read several", answers: [[0x0F, 1, 2, 3]], whole: "3 octets") {
            $0.readMultiple([11, 12], completion: length($1))
        },
        Row(testDescription: "read several of any length", answers: [[0x21, 1, 0, 1, 0, 0]], whole: "2 found") {
            $0.readMultipleVariable([11, 12], completion: count($1))
        },
        Row(
            testDescription: "read the hash",
            answers: [[0x09, 18, 11, 0] + [UInt8](repeating: 1, count: 16)],
            whole: "true",
            ends: [0: [notFound: "false"]]
        ) { client, end in client.readDatabaseHash { end($0.map { "\($0 != nil)" }) } },
    ]

    private static func prepared(_ offset: UInt8, _ count: Int) -> [UInt8] {
        [0x17, 11, 0, offset, 0] + [UInt8](repeating: 1, count: count)
    }

    private static let writes = [
        Row(testDescription: "write", answers: [[0x13]], whole: "done") { $0.write([1], to: 11, completion: done($1)) },
        Row(
            testDescription: "long write",
            answers: [prepared(0, 18), prepared(18, 12), [0x19]],
            whole: "done"
        ) { $0.write(long, to: 11, completion: done($1)) },
        Row(
            testDescription: "reliable write",
            answers: [prepared(0, 2), prepared(0, 1), [0x19]],
            whole: "done"
        ) { client, end in client.writeReliably([(11, [1, 1]), (11, [1])], completion: done(end)) },
        Row(
            testDescription: "subscribe",
            answers: [[0x05, 1, 12, 0, 1, 0x29], [0x05, 1, 20, 0, 2, 0x29], [0x13]],
            whole: "done",
            // There is no client configuration, so nothing is written.
            others: [0: [notFound: .noClientConfiguration], 1: [notFound: .noClientConfiguration]]
        ) { $0.setNotifying(true, characteristic, completion: done($1)) },
    ]

    private static let searches = [
        Row(
            testDescription: "all services",
            answers: [[0x11, 6, 1, 0, 5, 0, 0, 0x18], [0x11, 6, 6, 0, 0xFF, 0xFF, 1, 0x18]],
            whole: "2 found",
            ends: [0: [notFound: "0 found"], 1: [notFound: "1 found"]]
        ) { $0.discoverServices(completion: count($1)) },
        Row(
            testDescription: "services with a UUID",
            answers: [[0x07, 1, 0, 5, 0], [0x07, 6, 0, 0xFF, 0xFF]],
            whole: "2 found",
            ends: [0: [notFound: "0 found"], 1: [notFound: "1 found"]]
        ) { $0.discoverServices(0x1800, completion: count($1)) },
        Row(
            testDescription: "one service",
            answers: [[0x07, 1, 0, 5, 0]],
            whole: "true",
            ends: [0: [notFound: "false"]]
        ) { client, end in client.discoverService(0x1801) { end($0.map { "\($0 != nil)" }) } },
        Row(
            testDescription: "includes with UUIDs of 128 bits",
            answers: [
                [0x09, 6, 11, 0, 30, 0, 31, 0], [0x0B] + [UInt8](repeating: 9, count: 16),
                [0x09, 8, 20, 0, 40, 0, 41, 0, 0, 0x18],
            ],
            whole: "2 found",
            // A service that is not there is no part of the result; the search goes on.
            ends: [0: [notFound: "0 found"], 1: [notFound: "1 found", 0x01: "1 found"], 2: [notFound: "1 found"]]
        ) { $0.discoverIncludedServices(of: service, completion: count($1)) },
        Row(
            testDescription: "characteristics",
            answers: [[0x09, 7, 11, 0, 2, 12, 0, 0, 0x2A], [0x09, 7, 19, 0, 2, 20, 0, 1, 0x2A]],
            whole: "2 found",
            ends: [0: [notFound: "0 found"], 1: [notFound: "1 found"]]
        ) { $0.discoverCharacteristics(of: service, completion: count($1)) },
        Row(
            testDescription: "characteristics with a UUID",
            answers: [[0x09, 7, 11, 0, 2, 12, 0, 0, 0x2A], [0x09, 7, 19, 0, 2, 20, 0, 1, 0x2A]],
            whole: "1 found",
            ends: [0: [notFound: "0 found"], 1: [notFound: "0 found"]]
        ) { $0.discoverCharacteristics(0x2A01, of: service, completion: count($1)) },
        Row(
            testDescription: "descriptors",
            answers: [[0x05, 1, 12, 0, 2, 0x29], [0x05, 2, 20, 0] + [UInt8](repeating: 9, count: 16)],
            whole: "2 found",
            ends: [0: [notFound: "0 found"], 1: [notFound: "1 found"]]
        ) { $0.discoverDescriptors(of: characteristic, completion: count($1)) },
    ]

    /// Runs a procedure whose request number `refused` is refused with `code`, and returns what the caller is told and
    /// the requests.
    private func outcome(of row: Row, refusing refused: Int?, _ code: UInt8) -> (Result<String, GATTError>?, [[UInt8]])
    {
        var number = 0
        let server = ScriptedServer { request in
            defer { number += 1 }
            if number == refused { return [0x01, request[0], 0, 0, code] }
            // A cancelled write, and the search for the hash after Database Out Of Sync.
            if let refused, number > refused {
                if request[0] == 0x18 { return [0x19] }
                if request.suffix(2) == [0x2A, 0x2B] { return [0x01, request[0], 0, 0, 0x0A] }
            }
            return number < row.answers.count ? row.answers[number] : nil
        }
        var result: Result<String, GATTError>?
        row.run(server.client) { result = $0 }
        server.loop.run(for: .seconds(1))
        return (result, server.requests)
    }

    @Test(
        "each refusal of each request of each procedure is an error, or a regular end, Core Vol 3 Part F 3.4 and Part G 4",
        arguments: reads + writes + searches
    )
    func refusals(of row: Row) {
        #expect(outcome(of: row, refusing: nil, 0).0 == .success(row.whole))
        for refused in row.answers.indices {
            for code in UInt8.min...UInt8.max {
                let (result, requests) = outcome(of: row, refusing: refused, code)
                let place = "request \(refused), code \(code)"
                if let part = row.ends[refused]?[code] {
                    #expect(result == .success(part), "\(place)")
                } else if let error = row.others[refused]?[code] {
                    #expect(result == .failure(error), "\(place)")
                } else if code == ATTErrorCode.databaseOutOfSync.rawValue {
                    #expect(result == .failure(.databaseOutOfSync), "\(place)")
                } else {
                    let opcode = ATTOpcode(rawValue: requests[refused][0])
                    let error = ATTErrorResponse(ATTErrorCode(rawValue: code), to: opcode, at: 0)
                    #expect(result == .failure(.att(error)), "\(place)")
                }
            }
        }
    }

    /// A later write must not execute the parts that were prepared before the refusal.
    @Test("a long write that is refused in the middle is cancelled, Core Vol 3 Part F 3.4.6", arguments: writes[1...2])
    func cancelledWrites(row: Row) {
        for refused in row.answers.indices {
            let (_, requests) = outcome(of: row, refusing: refused, 0x80)
            #expect(requests.contains([0x18, 0]) == (refused == 1))
        }
    }

    /// The server responds with as much as its older, smaller MTU has room for.
    @Test("a read goes on if the MTU grows before its response, Core Vol 3 Part F 3.4.2")
    func aLargerMTU() {
        var server: ScriptedServer?
        server = ScriptedServer { request in
            switch request[0] {
            case 0x0A:
                server?.send([0x02, 100, 0])
                return [0x0B] + Self.full
            case 0x0C: return request == [0x0C, 11, 0, 22, 0] ? [0x0D, 1, 2] : nil
            default: return nil
            }
        }
        var value: PacketBuffer?
        server?.client.read(11) { value = try? $0.get() }
        server?.loop.run(for: .seconds(1))
        #expect(server?.client.bearer.mtu == 100)
        #expect(value?.count == 24)
    }
}
