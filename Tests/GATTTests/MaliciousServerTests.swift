import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import LoopbackLinks
import Testing

/// This package's client against a script: each request is answered with the script's next octets.
final class ScriptedServer {
    let loop = VirtualEventLoop()
    let client: GATTClient
    private let link: LoopbackLink
    private let peer: LoopbackLink
    private let connection: L2CAPConnection
    private(set) var requests: [[UInt8]] = []

    init(_ answer: @escaping ([UInt8]) -> [UInt8]?) {
        (link, peer) = LoopbackLink.pair(loop: loop)
        connection = L2CAPConnection(link: link, role: .central, loop: loop)
        let channel = connection.register(.attribute, maximumPayload: 517)
        client = GATTClient(bearer: ATTBearer(channel: channel, loop: loop, preferredMTU: 517))
        peer.onReceive = { [weak self] fragment, _ in
            let request = fragment.suffix(after: 4).bytes
            self?.requests.append(request)
            if let octets = answer(request) { self?.peer.inject(octets, on: 4) }
        }
    }

    /// Runs a procedure to its end and returns its error.
    func failure<T>(_ procedure: (@escaping (Result<T, GATTError>) -> Void) -> Void) -> GATTError? {
        var error: GATTError?
        procedure { if case .failure(let cause) = $0 { error = cause } }
        loop.run(for: .seconds(20))
        return error
    }

    func indicate(_ octets: [UInt8]) {
        send(octets)
        loop.run(for: .zero)
    }

    /// Sends a PDU that arrives before the answer to the present request.
    func send(_ octets: [UInt8]) { peer.inject(octets, on: 4) }
}

@Suite struct MaliciousServerTests {
    static let service = DiscoveredService(handles: 10...20, uuid: 0x180D)
    static let characteristic = DiscoveredCharacteristic(
        declaration: 10,
        value: 11,
        end: 20,
        properties: .notify,
        uuid: 0x2A37
    )

    @Test("AB-A08: responses whose lengths make no progress are refused")
    func lengthsThatMakeNoProgress() {
        for octets: [UInt8] in [[0x11, 0], [0x11, 1, 1], [0x11, 6], [0x11]] {
            let server = ScriptedServer { _ in octets }
            let error = server.failure { server.client.discoverServices(completion: $0) }
            guard case .bearer(.malformedResponse(.readByGroupTypeResponse, _)) = error else {
                Issue.record("\(octets): \(String(describing: error))")
                continue
            }
        }
    }

    @Test("AB-A07, AB-A08: discovery of an endless or repeating list of services is abandoned")
    func serversWithoutEnd() {
        // One more service for each request: bounded.
        let services = ScriptedServer { [0x11, 6, $0[1], $0[2], $0[1], $0[2], 0, 0x18] }
        #expect(
            services.failure { services.client.discoverServices(completion: $0) }
                == .server(.tooMany(limit: GATTClient.maximumServices))
        )
        #expect(services.requests.count == GATTClient.maximumServices + 1)
        // The same answer again and again: no progress.
        let repeating = ScriptedServer { _ in [0x07, 1, 0, 5, 0] }
        #expect(
            repeating.failure { repeating.client.discoverServices(0x1800, completion: $0) }
                == .server(.noProgress(at: 1))
        )
        #expect(repeating.requests.count == 2)
        let everything = DiscoveredService(handles: 1...0xFFFF, uuid: 0)
        let characteristics = ScriptedServer { request in
            let next = UInt16(request[1]) + UInt16(request[2]) << 8 + 1
            return [0x09, 7, request[1], request[2], 2, UInt8(truncatingIfNeeded: next), UInt8(next >> 8), 0, 0x2A]
        }
        // Each value is at the handle of the next declaration.
        #expect(
            characteristics.failure { characteristics.client.discoverCharacteristics(of: everything, completion: $0) }
                == .server(.tooMany(limit: GATTClient.maximumCharacteristics))
        )
        let descriptors = ScriptedServer { [0x05, 1, $0[1], $0[2], 1, 0x29] }
        var wide = Self.characteristic
        wide.end = 0xFFFF
        #expect(
            descriptors.failure { descriptors.client.discoverDescriptors(of: wide, completion: $0) }
                == .server(.tooMany(limit: GATTClient.maximumDescriptors))
        )
        let values = ScriptedServer { [0x09, 3, $0[1], $0[2], 7] }
        #expect(
            values.failure { values.client.readValues(of: 0x2A19, completion: $0) }
                == .server(.tooMany(limit: GATTClient.maximumCharacteristics))
        )
    }

    /// Each answer makes progress and is valid: there are merely too many.
    @Test("AB-A07, AB-A08: discovery of an endless service ends at a limit")
    func aServiceWithoutEnd() {
        let everything = DiscoveredService(handles: 1...0xFFFF, uuid: 0)
        func octets(_ handle: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8)] }
        func start(_ request: [UInt8]) -> UInt16 { UInt16(request[1]) | UInt16(request[2]) << 8 }
        let characteristics = ScriptedServer { request in
            [0x09, 7] + octets(start(request) &+ 1) + [2] + octets(start(request) &+ 2) + [0, 0x2A]
        }
        #expect(
            characteristics.failure { characteristics.client.discoverCharacteristics(of: everything, completion: $0) }
                == .server(.tooMany(limit: GATTClient.maximumCharacteristics))
        )
        #expect(characteristics.requests.count == GATTClient.maximumCharacteristics + 1)
        let includes = ScriptedServer { [0x09, 8] + octets(start($0)) + [0, 0x70, 1, 0x70, 0, 0x18] }
        #expect(
            includes.failure { includes.client.discoverIncludedServices(of: everything, completion: $0) }
                == .server(.tooMany(limit: GATTClient.maximumIncludes))
        )
        #expect(includes.requests.count == GATTClient.maximumIncludes + 1)
    }

    @Test("AB-A08: more values than requested are refused")
    func moreValuesThanWereAskedFor() {
        let server = ScriptedServer { _ in [0x21, 1, 0, 1, 1, 0, 2, 1, 0, 3] }
        #expect(
            server.failure { server.client.readMultipleVariable([11, 12], completion: $0) }
                == .server(.unexpectedResponse)
        )
        var values: [PacketBuffer]?
        server.client.readMultipleVariable([11, 12, 13]) { values = try? $0.get() }
        server.loop.run(for: .seconds(1))
        #expect(values == [[1], [2], [3]])
    }

    @Test("AB-A08: an endless value is read up to 512 octets")
    func aValueWithoutEnd() throws {
        let server = ScriptedServer { [$0[0] + 1] + [UInt8](repeating: 7, count: 22) }
        var value: PacketBuffer?
        server.client.read(11) { value = try? $0.get() }
        server.loop.run(for: .seconds(1))
        #expect(value?.count == 512)
        #expect(server.requests.count == 24)
    }

    @Test("GATT/CL/GAW/BI-32: a wrong echo cancels a reliable write")
    func aWrongEchoCancelsAReliableWrite() {
        let server = ScriptedServer { request in
            switch request[0] {
            case 0x16: [0x17] + request[1..<(request.count - 1)] + [0xEE]
            default: [0x19]
            }
        }
        let error = server.failure { server.client.writeReliably([(11, [1, 2])], completion: $0) }
        #expect(error == .server(.wrongEcho(handle: 11, offset: 0)))
        #expect(server.requests.map { $0[0] } == [0x16, 0x18])
        #expect(server.requests.last == [0x18, 0])
    }

    @Test("behaviour 5.10: a long write to a server without prepared writes fails")
    func aServerWithoutPreparedWrites() {
        let server = ScriptedServer { [0x01, $0[0], 11, 0, 0x06] }
        let long = PacketBuffer([UInt8](repeating: 1, count: 30))
        let error = server.failure { server.client.write(long, to: 11, completion: $0) }
        #expect(error == .att(ATTErrorResponse(.requestNotSupported, to: .prepareWriteRequest, at: 11)))
        #expect(server.requests.count == 1)
    }

    @Test("AB-A08: an invalid Service Changed covers everything or nothing")
    func aServiceChangedThatMakesNoSense() {
        let server = ScriptedServer { _ in nil }
        var changes: [ClosedRange<UInt16>] = []
        server.client.serviceChanged = 8
        server.client.onServiceChanged = { changes.append($0) }
        server.indicate([0x1D, 8, 0, 5, 0])
        server.indicate([0x1D, 8, 0, 5, 0, 4, 0])
        server.indicate([0x1D, 8, 0, 0, 0, 4, 0])
        server.indicate([0x1D, 8, 0, 1, 0, 4, 0, 0])
        #expect(changes == [1...0xFFFF, 1...0xFFFF])
        #expect(server.requests.map { $0[0] } == [0x1E, 0x1E, 0x1E, 0x1E])
    }

    /// Answers a descriptor search as a server with a Client Characteristic Configuration at `place`.
    private static func configuration(at place: UInt8, _ request: [UInt8]) -> [UInt8] {
        request[1] <= place ? [0x05, 1, place, 0, 0x02, 0x29] : [0x01, 0x04, request[1], 0, 0x0A]
    }

    /// The descriptor's handle may hold something else now: it is discovered again, and nothing is written to the old
    /// handle.
    @Test("AB-A11: a descriptor is discovered again after a change")
    func aDescriptorIsLookedForAgainAfterAChange() {
        var place: UInt8 = 12
        let server = ScriptedServer { $0[0] == 0x04 ? Self.configuration(at: place, $0) : [0x13] }
        server.client.serviceChanged = 8
        var successes = 0
        func subscribe() {
            server.client.setNotifying(true, Self.characteristic) { if case .success = $0 { successes += 1 } }
            server.loop.run(for: .seconds(1))
        }
        subscribe()
        subscribe()
        #expect(server.requests.map { $0[0] } == [0x04, 0x04, 0x12, 0x12])
        place = 13
        server.indicate([0x1D, 8, 0, 10, 0, 20, 0])
        subscribe()
        #expect(server.requests.suffix(4).map { $0[0] } == [0x1E, 0x04, 0x04, 0x12] && successes == 3)
        #expect(server.requests.last == [0x12, 13, 0, 1, 0])
    }

    @Test("AB-A11: a descriptor discovered before a change is not cached after it")
    func aDescriptorFoundBeforeAChangeIsNotRemembered() {
        var isSlow = true
        let server = ScriptedServer { $0[0] == 0x04 ? Self.configuration(at: 12, $0) : isSlow ? nil : [0x13] }
        server.client.serviceChanged = 8
        var successes = 0
        func subscribe() {
            server.client.setNotifying(true, Self.characteristic) { if case .success = $0 { successes += 1 } }
            server.loop.run(for: .seconds(1))
        }
        subscribe()
        server.indicate([0x1D, 8, 0, 10, 0, 20, 0])
        server.indicate([0x13])
        isSlow = false
        subscribe()
        #expect(server.requests.map { $0[0] } == [0x04, 0x04, 0x12, 0x1E, 0x04, 0x04, 0x12] && successes == 2)
    }
}
