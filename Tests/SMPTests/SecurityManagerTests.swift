import BluetoothTypes
import EventLoops
import L2CAP
import LoopbackLinks
import Testing

@testable import SMP

@Suite struct SecurityManagerTests {
    static let pairingRequest: [UInt8] = [0x01, 3, 0, 0x0D, 16, 1, 1]
    static let securityRequest: [UInt8] = [0x0B, 0x0D]

    private func answers(_ role: L2CAPConnection.Role, to payloads: [[UInt8]]) -> [[UInt8]] {
        let loop = VirtualEventLoop()
        let (link, peer) = LoopbackLink.pair(loop: loop)
        let connection = L2CAPConnection(link: link, role: role, loop: loop)
        let channel = connection.register(.securityManager, maximumPayload: SecurityManager.maximumPayload)
        let manager = SecurityManager(
            channel: channel,
            role: role == .central ? .initiator : .responder,
            ownAddress: PairingBench.central,
            peerAddress: PairingBench.peripheral,
            loop: loop,
            random: RandomSource(seed: 1)
        )
        for payload in payloads { peer.inject(payload, on: 6) }
        loop.run(for: .seconds(1))
        #expect(!manager.encryption.isEncrypted)
        return link.takeSent(on: 6)
    }

    @Test func pairingIsRefused() {
        #expect(answers(.peripheral, to: [Self.pairingRequest]) == [[0x05, 0x05]])
        #expect(answers(.central, to: [Self.pairingRequest]).isEmpty)
    }

    @Test func aSecurityRequestIsRefused() {
        #expect(answers(.central, to: [Self.securityRequest]) == [[0x05, 0x05]])
        #expect(answers(.peripheral, to: [Self.securityRequest]).isEmpty)
    }

    @Test(arguments: [L2CAPConnection.Role.central, .peripheral])
    func everythingElseIsIgnored(role: L2CAPConnection.Role) {
        let others = (UInt8.min...UInt8.max).filter { $0 != 0x01 && $0 != 0x0B }
        #expect(answers(role, to: others.map { [$0, 1, 2, 3, 4, 5, 6] } + [[]]).isEmpty)
    }

    @Test func truncatedAtEveryByte() {
        let cut = (1..<Self.pairingRequest.count).map { Array(Self.pairingRequest[..<$0]) }
        let answers = answers(.peripheral, to: [[]] + cut + [Self.pairingRequest + [0]])
        #expect(answers == [[UInt8]](repeating: [0x05, 0x0A], count: cut.count + 1))
        #expect(self.answers(.central, to: [[0x0B], [0x0B, 1, 2]]).isEmpty)
    }

    @Test func everyPacketGoesBothWays() throws {
        func check<T: SMPPacket>(_ type: T.Type, _ octets: [UInt8]) throws {
            #expect(try T(reading: PacketBuffer(octets).suffix(after: 1)).framed().bytes == octets)
        }
        try check(PairingRequest.self, Self.pairingRequest)
        try check(SecurityRequest.self, Self.securityRequest)
        try check(PairingFailed.self, [0x05, 0x05])
    }
}
