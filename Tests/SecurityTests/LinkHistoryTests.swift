import ATT
import BluetoothTypes
import ControllerStandIns
import EventLoops
import GATT
import HCI
import L2CAP
import StackStandIns
import Testing

@testable import Security

/// A PDU for one protocol of a link that only an encrypted link may carry.
enum ProtectedPDU: CaseIterable {
    /// A request for a value that requires encryption.
    case read
    /// A command for such a value.
    case write
    /// A value for this device's client.
    case notification
    /// A request for a credit-based channel whose server requires encryption.
    case channel
    /// A Pairing Request, which must not come from an attacker.
    case pairing

    /// The payload, and the channel that it arrives on.
    func payload(_ handle: UInt16) -> (octets: [UInt8], channel: UInt8) {
        let low = UInt8(truncatingIfNeeded: handle)
        switch self {
        case .read: return ([0x0A, low, 0], 4)
        case .write: return ([0x52, low, 0, 9], 4)
        case .notification: return ([0x1B, 3, 0, 7], 4)
        case .channel: return ([0x14, 1, 10, 0, 0x80, 0, 0x40, 0, 100, 0, 64, 0, 10, 0], 5)
        case .pairing: return ([0x01, 0x04, 0, 0x0D, 16, 0, 0], 6)
        }
    }
}

/// All protocols of a link judge data by the history of the link, and none by its present security.
@Suite struct LinkHistoryTests {
    /// A bonded peripheral with a protected value, a client and a channel server on one link.
    private final class Scene: GATTServerDelegate {
        let bench: SecurityBench
        let server: GATTServer
        let session: GATTServerSession
        let client: GATTClient
        let listener: ChannelServer
        let handle: UInt16
        private let owner: StandInOwner
        private var reads = 0
        private var writes = 0
        private var values = 0

        init() throws {
            let servers = ChannelServers()
            listener = try servers.listen(on: SPSM(rawValue: 0x80), requirement: .encrypted)
            bench = try SecurityBench(.peripheral, bond: SecurityBench.bond(), servers: servers)
            let database = GATTDatabase()
            let value = CharacteristicDefinition(
                0x2A19,
                properties: [.read, .write, .writeWithoutResponse],
                permissions: AttributePermissions(read: .encrypted, write: .encrypted)
            )
            handle = try database.add(ServiceDefinition(0x180F, characteristics: [value])).characteristics[0].value
            server = GATTServer(database: database)
            let bearer = ATTBearer(
                channel: bench.l2cap.register(.attribute, maximumPayload: 64),
                loop: bench.hci.loop,
                preferredMTU: 64
            )
            session = server.attach(bearer)
            client = GATTClient(bearer: bearer)
            owner = StandInOwner(of: bench.link)
            server.delegate = self
            client.onValue = { [unowned self] _, _, _ in values += 1 }
            owner.onChange = { [unowned self] old in
                client.linkSecurityChanged()
                session.linkSecurityChanged(from: old)
            }
        }

        func encrypt() {
            bench.hci.inject(LELongTermKeyRequest(handle: SecurityBench.handle, random: 0, encryptedDiversifier: 0))
            bench.change(1)
        }

        /// The number of PDUs that had an effect that only data of the encrypted peer may have.
        var effects: Int {
            let answers = bench.hci.transport.sent.compactMap(\.securityCommand).count
            return reads + writes + values + listener.channels.count + answers
        }

        func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) {
            reads += 1
            request.respond(.success([1]))
        }

        func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) {
            writes += 1
            request.respond()
        }
    }

    /// The link is encrypted after any octet of the PDU. By the time that the PDU is complete, the link is secure
    /// enough for it; when the PDU began, it was not.
    @Test(
        "AB-L08: each protocol judges a PDU by the security of the link at its first octet",
        arguments: ProtectedPDU.allCases
    )
    func aPDUCountsAsItBegan(_ kind: ProtectedPDU) throws {
        let (octets, channel) = try kind.payload(Scene().handle)
        let pdu = [UInt8(octets.count), 0, channel, 0] + octets
        for cut in 1..<pdu.count {
            let scene = try Scene()
            scene.bench.receive(pdu[..<cut], isStart: true)
            scene.encrypt()
            #expect(scene.bench.l2cap.linkSecurity.isEncrypted)
            scene.bench.receive(pdu[cut...], isStart: false)
            #expect(scene.effects == 0, "cut at \(cut)")
            // The same PDU, whole, on the encrypted link.
            scene.bench.receive(pdu, isStart: true)
            #expect(scene.effects == 1, "cut at \(cut)")
        }
    }

    /// There is one record of the security, so that the link, its channels, the client and the session cannot disagree.
    @Test func allProtocolsOfALinkShareItsHistory() throws {
        let scene = try Scene()
        let history = scene.bench.l2cap.history
        #expect(scene.client.bearer.history === history)
        #expect(scene.session.bearer.history === history)
        for isEncrypted in [false, true] {
            if isEncrypted { scene.encrypt() }
            #expect(scene.bench.link.linkSecurity.isEncrypted == isEncrypted)
            #expect(scene.client.linkSecurity == scene.bench.link.linkSecurity)
            #expect(scene.session.linkSecurity == scene.bench.link.linkSecurity)
        }
        // What is left to do for a closed link is judged by its last security.
        scene.bench.l2cap.close()
        #expect(scene.session.linkSecurity.isEncrypted)
        #expect(scene.client.linkSecurity.isEncrypted)
    }
}
