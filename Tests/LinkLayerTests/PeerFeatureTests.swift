import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

/// The bits of FeatureSet in the exchange of features, in both directions (Core Vol 6 Part B 4.6, Table 4.9; 5.1.4).
@Suite struct PeerFeatureTests {
    /// Whether a bit is sent to a peer: correctly, correctly or as zero, or as zero.
    private enum Sent {
        case yes, optional, no
    }

    /// The column "Send to Peer" of Table 4.9 in version 6.2. Bits that are not named are reserved.
    private static let table: [Int: Sent] = {
        var table: [Int: Sent] = [:]
        for bit in Array(0...48) + [63] { table[bit] = .yes }
        for bit in [4, 6, 7, 12, 13, 19, 20, 21, 22, 36] { table[bit] = .optional }
        for bit in [27, 42, 48] { table[bit] = .no }
        return table
    }()

    /// The bits that the host controls.
    private static let hostControlled = [32, 38, 41, 47]

    private static func feature(_ bit: Int) -> LEFeatures { LEFeatures(rawValue: 1 << UInt64(bit)) }

    @Test("each named feature is a bit of the table, and each bit of the table has a name")
    func namesAndBits() {
        let named = LEFeatures.names.map(\.flag.rawValue.trailingZeroBitCount)
        #expect(Set(named) == Set(Self.table.keys))
    }

    @Test("no bit that a peer must not get is sent, whoever asks, and all others are", arguments: Array(0...63))
    func sentBits(bit: Int) throws {
        let isSent = (Self.table[bit] ?? .yes) != .no
        let all = LEFeatures(rawValue: .max)
        // On request of the host, by the peer's request, and as the answer to that.
        for role in [LinkRole.central, .peripheral] {
            var machine = LinkControlTests.machine(role, features: all)
            let sent = try #require(machine.request(.features)?.compactMap(Self.exchanged))
            #expect(sent.map { $0.contains(Self.feature(bit)) } == [isSent])
            var other = LinkControlTests.machine(role, features: all)
            let asked = FeatureExchange(all)
            let request = role == .central ? ControlPDU.peripheralFeatureRequest(asked) : .featureRequest(asked)
            let answers = other.receive(request.encoded()).compactMap(Self.exchanged)
            #expect(answers.map { $0.contains(Self.feature(bit)) } == [isSent])
        }
    }

    private static func exchanged(_ action: LinkControl.Action) -> LEFeatures? {
        switch action {
        case .send(.featureRequest(let pdu)), .send(.peripheralFeatureRequest(let pdu)),
            .send(.featureResponse(let pdu)):
            pdu.features
        default: nil
        }
    }

    @Test("a bit that is not sent, or may be left out, does not tell what the peer supports", arguments: Array(0...63))
    func receivedBits(bit: Int) {
        let counts = (Self.table[bit] ?? .yes) == .yes
        for role in [LinkRole.central, .peripheral] {
            var machine = LinkControlTests.machine(role, features: LEFeatures(rawValue: .max))
            let pdu = FeatureExchange(Self.feature(bit))
            let request = role == .central ? ControlPDU.peripheralFeatureRequest(pdu) : .featureRequest(pdu)
            _ = machine.receive(request.encoded())
            #expect(machine.remoteFeatures == (counts ? Self.feature(bit) : []))
            // The host gets what the peer has sent.
            #expect(machine.request(.features) == [.report(.features(.success, Self.feature(bit)))])
        }
    }

    @Test("the first octet of the answer, and of what the host gets, has the features of both devices alone")
    func theFirstOctet() {
        let (ours, theirs) = (LEFeatures(rawValue: 0x0F_33), LEFeatures(rawValue: 0xF0_55))
        for role in [LinkRole.central, .peripheral] {
            var machine = LinkControlTests.machine(role, features: ours.union(.peripheralInitiatedFeaturesExchange))
            let own = machine.setup.features
            let pdu = FeatureExchange(theirs)
            let request = role == .central ? ControlPDU.peripheralFeatureRequest(pdu) : .featureRequest(pdu)
            let both = own.rawValue & theirs.rawValue & 0xFF
            let answer = LEFeatures(rawValue: own.rawValue & ~0xFF | both)
            #expect(machine.receive(request.encoded()) == [.send(.featureResponse(.init(answer)))])
            let told = LEFeatures(rawValue: theirs.rawValue & ~0xFF | both)
            #expect(machine.request(.features) == [.report(.features(.success, told))])
        }
    }

    // A controller with a feature of a later page has bit 63 as well.
    @Test("of the later pages, nothing is claimed or sent")
    func laterPages() {
        #expect(!VirtualController.supportedFeatures.contains(.extendedFeatureSet))
        for opcode in [0x2B, 0x2C] as [UInt8] {
            for page in [0, 1, 10] as [UInt8] {
                var machine = LinkControlTests.machine(.peripheral)
                let pdu = PacketBuffer([opcode, 10, page] + [UInt8](repeating: 0xFF, count: 24))
                #expect(machine.receive(pdu) == [.send(.unknown(.init(ControlOpcode(rawValue: opcode))))])
            }
        }
    }

    @Test("hosts set the bits that they control, and only those of features that the controller has")
    func hostControlledBits() {
        let host = LinkLayerWorld().host()
        for bit in UInt8.min...UInt8.max {
            let isHosts = Self.hostControlled.contains(Int(bit))
            let set = host.send(LESetHostFeature(bitNumber: bit, isSupported: true))
            let cleared = host.send(LESetHostFeature(bitNumber: bit, isSupported: false))
            let refusal = bit > 63 ? HCIStatus.invalidParameters : .unsupportedFeatureOrParameter
            #expect(set == (bit == 38 ? .success : refusal), "\(bit)")
            #expect(cleared == (isHosts ? .success : refusal), "\(bit)")
        }
    }

    @Test("two controllers tell each other all that they support, apart from what concerns their own hosts")
    func controllersWithEachOther() throws {
        for byCentral in [true, false] {
            let pair = try Pair()
            let (host, handle) =
                byCentral ? (pair.central, pair.centralHandle) : (pair.peripheral, pair.peripheralHandle)
            host.send(LEReadRemoteFeatures(handle: handle))
            pair.world.run(.seconds(1))
            let told = try #require(host.events(LEReadRemoteFeaturesComplete.self).first)
            #expect(told.features == VirtualController.supportedFeatures.subtracting(.remotePublicKeyValidation))
            #expect(try host.read(LEReadLocalSupportedFeatures()).features.contains(.remotePublicKeyValidation))
        }
    }

    // A ping that is not supported is answered too, by LL_UNKNOWN_RSP (5.1.8).
    @Test("a ping is sent to a peer that does not claim to support it")
    func aPingToAnyPeer() {
        var machine = LinkControlTests.machine(.peripheral)
        _ = machine.receive(ControlPDU.featureRequest(.init([.encryption])).encoded())
        #expect(machine.request(.ping) == [.send(.pingRequest)])
    }
}
