import ATT
import BluetoothTypes
import EventLoops
import GATT
import L2CAP
import LoopbackLinks

extension FuzzTarget {
    /// A server whose client sends any PDU, whose app is slow or refuses, and whose database and security change
    /// meanwhile. A request received unencrypted must never read or write protected values.
    static let gattServer = FuzzTarget(
        "gatt-server",
        maximumLength: 2_048,
        seeds: GATTServerScene.seeds
    ) { input in
        var input = input
        let scene = GATTServerScene()
        while !input.isAtEnd { scene.take(&input) }
        scene.end()
    }
}

private final class GATTServerScene: GATTServerDelegate {
    private let loop = VirtualEventLoop()
    private let database = GATTDatabase()
    private let server: GATTServer
    private let link: LoopbackLink
    private let peer: LoopbackLink
    private let connection: L2CAPConnection
    private let session: GATTServerSession
    private var notifying: UInt16 = 0
    private var added: UInt16?
    private var reads: [GATTReadRequest] = []
    private var writes: [GATTWriteRequest] = []
    private var isSlow = false
    private var requests = 0
    private var answers = 0
    /// The rest of a PDU that has arrived in part.
    private var rest: (octets: [UInt8], isRequest: Bool, begun: Instant)?
    /// The value that requires encryption to read and authentication to write, and whether a request over a
    /// sufficiently secure link may have addressed it.
    private var protected: UInt16 = 0
    private var mayRead = false
    private var mayWrite = false

    init() {
        server = GATTServer(database: database)
        (link, peer) = LoopbackLink.pair(loop: loop)
        connection = L2CAPConnection(link: link, role: .peripheral, loop: loop)
        let channel = connection.register(.attribute, maximumPayload: 517)
        let bearer = ATTBearer(channel: channel, loop: loop, preferredMTU: 517)
        session = server.attach(bearer)
        bearer.onClose = { [unowned self] _ in server.detach(session) }
        server.delegate = self
        session.verifySignature = { _, signature in signature.first.map { $0 & 1 == 0 } ?? false }
        fill()
        loop.run(for: .zero)
        server.delegate = self
    }

    private func fill() {
        let open = AttributePermissions(read: SecurityLevel.none, write: SecurityLevel.none)
        let long = PacketBuffer((0..<512).map { UInt8(truncatingIfNeeded: $0) })
        let services = [
            ServiceDefinition.genericAccess(deviceName: "Harald", appearance: 0x0341), .genericAttribute(),
            ServiceDefinition(
                0x180D,
                characteristics: [
                    CharacteristicDefinition(0x2A37, properties: [.notify, .indicate], permissions: open),
                    CharacteristicDefinition(0x2A38, properties: .read, permissions: .readable, source: .fixed(long)),
                    CharacteristicDefinition(
                        0x2A39,
                        properties: [.read, .write, .writeWithoutResponse],
                        permissions: open,
                        descriptors: [
                            DescriptorDefinition(0xAAAA, permissions: open, source: .asked), .userDescription("long"),
                        ]
                    ),
                    CharacteristicDefinition(
                        0x2A3A,
                        properties: [.read, .write],
                        permissions: AttributePermissions(read: .encrypted, write: .authenticated)
                    ),
                    CharacteristicDefinition(
                        0x2A3B,
                        properties: [.write, .authenticatedSignedWrites, .notify, .indicate],
                        permissions: AttributePermissions(write: SecurityLevel.none, needsSignature: true),
                        notification: .encrypted,
                        indication: .authenticated
                    ),
                ]
            ),
        ]
        for service in services {
            let handles = try? database.add(service)
            hold(handles != nil, "the database rejects a service")
            notifying = handles?.characteristics.first?.value ?? 0
            protected = handles?.characteristics.dropFirst(3).first?.value ?? 0
        }
    }

    func take(_ input: inout FuzzInput) {
        let kind = input.octet()
        switch kind & 0b1111 {
        case 0...5: inject(input.counted())
        case 6: begin(input.counted(), length: Int(kind >> 4))
        case 7: finish()
        case 8:
            let old = session.linkSecurity
            connection.linkSecurity = LinkSecurity(
                isEncrypted: kind & 0x10 != 0,
                isAuthenticated: kind & 0x20 != 0,
                hasKey: kind & 0x40 != 0
            )
            if session.linkSecurity != old { session.linkSecurityChanged(from: old) }
            if kind & 0x80 != 0 { session.restore(session.record) }
        case 9: isSlow = kind & 0x10 != 0
        case 10: answer(kind)
        case 11: changeDatabase()
        case 12: _ = server.update(PacketBuffer(copying: input.counted()), of: notifying)
        case 13: link.isHeld.toggle()
        case 14: link.release(Int(kind >> 4))
        default: loop.run(for: .milliseconds(100 * Int(kind)))
        }
        loop.run(for: .zero)
        account()
    }

    private func inject(_ octets: [UInt8]) {
        if let first = octets.first, ATTOpcode(rawValue: first).kind == .request { requests += 1 }
        rest = nil
        note(octets)
        peer.inject(octets, on: 4)
    }

    /// Delivers the first octets of a PDU, so that other steps can happen before the rest.
    private func begin(_ octets: [UInt8], length: Int) {
        let pdu = [UInt8(octets.count), 0, 4, 0] + octets
        let cut = min(max(length, 1), pdu.count - 1)
        // A PDU without octets is no request.
        let isRequest = octets.first.map { ATTOpcode(rawValue: $0).kind == .request } ?? false
        rest = (Array(pdu[cut...]), isRequest, loop.now)
        note(octets)
        link.onReceive?(PacketBuffer(Array(pdu[..<cut])), true)
    }

    private func finish() {
        guard let rest else { return }
        self.rest = nil
        let isInTime = loop.now - rest.begun < L2CAPConnection.recombinationTimeout
        if isInTime, rest.isRequest { requests += 1 }
        link.onReceive?(PacketBuffer(rest.octets), false)
    }

    /// Notes which access a PDU that starts now may have to the protected value: it contains the handle, or searches by
    /// type.
    private func note(_ octets: [UInt8]) {
        guard session.linkSecurity.isEncrypted else { return }
        let handle = [UInt8(truncatingIfNeeded: protected), UInt8(protected >> 8)]
        let names = zip(octets, octets.dropFirst()).contains { [$0, $1] == handle }
        guard names || octets.first == 0x08 else { return }
        mayRead = true
        if session.linkSecurity.isAuthenticated { mayWrite = true }
    }

    /// Checks the sent PDUs: none is longer than the MTU, and there are no more responses than requests.
    private func account() {
        let sent = link.takeSent(on: 4)
        for pdu in sent {
            hold(pdu.count <= session.bearer.mtu, "\(pdu.count) octets with an MTU of \(session.bearer.mtu)")
            hold((try? ATTPDU(reading: PacketBuffer(pdu))) != nil, "\(PacketBuffer(pdu)) cannot be read")
            if ATTOpcode(rawValue: pdu.first ?? 0).kind == .response { answers += 1 }
        }
        hold(answers <= requests, "\(answers) responses to \(requests) requests")
        hold(link.queuedPDUs <= 128, "\(link.queuedPDUs) PDUs are queued")
        hold(session.configurations.count <= 16, "\(session.configurations.count) configurations")
    }

    private func changeDatabase() {
        if let handle = added {
            try? database.remove(handle)
            added = nil
        } else {
            let definition = ServiceDefinition(
                0x1111,
                characteristics: [CharacteristicDefinition(0x2A19, properties: .read, permissions: .readable)]
            )
            added = (try? database.add(definition))?.handles.lowerBound
        }
    }

    private func answer(_ kind: UInt8) {
        let (reads, writes) = (reads, writes)
        self.reads = []
        self.writes = []
        let error: ATTErrorCode? = kind & 0x10 == 0 ? nil : ATTErrorCode(rawValue: kind)
        let value = PacketBuffer([UInt8](repeating: kind, count: Int(kind) * 4))
        for request in reads {
            request.respond(error.map { .failure($0) } ?? .success(value))
        }
        for request in writes { request.respond(error) }
    }

    /// The app answers everything; each request must have its response, unless the client was disconnected.
    func end() {
        isSlow = false
        link.isHeld = false
        for _ in 0...ATTBearer.maximumPeerRequests {
            answer(0)
            loop.run(for: .zero)
            account()
        }
        hold(reads.isEmpty && writes.isEmpty, "requests for the app are left over")
        if session.bearer.closure == nil { hold(answers == requests, "\(answers) responses to \(requests) requests") }
        connection.close()
        loop.run(for: .seconds(60))
        hold(server.sessions.isEmpty, "a session outlives its link")
    }

    static var seeds: [[UInt8]] {
        let requests: [[UInt8]] = [
            [2, 0xF7, 0], [4, 1, 0, 0xFF, 0xFF], [8, 1, 0, 0xFF, 0xFF, 3, 0x28], [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28],
            [6, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x0D, 0x18], [0x0A, 3, 0], [0x0C, 19, 0, 22, 0], [0x0E, 3, 0, 5, 0],
            [0x20, 3, 0, 5, 0], [0x12, 9, 0, 2, 0], [0x52, 22, 0, 1], [0x16, 22, 0, 0, 0, 1, 2, 3], [0x18, 1],
            [0x18, 0],
            [0x1E], [0xD2, 22, 0] + [UInt8](repeating: 0, count: 12), [0x12, 11, 0, 3], [0x12, 17, 0, 1, 0],
        ]
        let others: [UInt8] = [0x38, 0x19, 10, 11, 12, 2, 1, 2, 13, 14, 0x1F, 11, 12, 1, 1]
        // Requests that wait for a slow app, or have arrived in part, when the link becomes encrypted.
        let waits =
            [0x19] + step(0, [0x0A, 22, 0]) + step(0, [0x12, 25, 0, 9]) + step(0, [0x0A, 25, 0]) + [0x78, 10, 10, 10]
        let straddles = step(0x76, [0x52, 25, 0, 9]) + [0x78, 7] + step(0x56, [0x0A, 25, 0]) + [0x08, 7]
        let session = Recording.session.clientPDUs.map { step(0, $0) }
        let single = requests.map { step(0, $0) }
        return single + session + [session.flatMap(\.self), single.flatMap(\.self) + others, waits, straddles]
    }
}

// MARK: - The app

extension GATTServerScene {
    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) {
        hold(request.handle != protected || mayRead, "an unencrypted request reads a protected value")
        reads.append(request)
        if !isSlow { answer(10) }
    }

    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) {
        hold(!request.writes.isEmpty, "an empty write")
        hold(
            mayWrite || request.writes.allSatisfy { $0.handle != protected },
            "a write in the clear of what is protected"
        )
        writes.append(request)
        if !isSlow { answer(10) }
    }

    func server(
        _ server: GATTServer,
        session: GATTServerSession,
        didConfigure handle: UInt16,
        from old: ClientConfiguration,
        to new: ClientConfiguration
    ) {
        hold(old != new, "a change without a difference")
    }

    func server(_ server: GATTServer, isReadyToUpdate session: GATTServerSession) {}
}
