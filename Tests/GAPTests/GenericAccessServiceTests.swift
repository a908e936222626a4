import ATT
import BluetoothTypes
import GATT
import Testing

@testable import GAP

/// The Generic Access service (Core Vol 3 Part C 12), between two complete stacks.
@Suite struct GenericAccessServiceTests {
    /// A client on a link to a device with the service.
    private struct Session {
        let pair: LinkedPair
        let server: GATTServer
        let client: GATTClient

        init(_ mode: ControllerMode = .extended, name: String = "Harald", appearance: UInt16 = 0) throws {
            let database = GATTDatabase()
            _ = try database.add(.genericAccess(deviceName: name, appearance: appearance))
            let server = GATTServer(database: database)
            var attributes: LinkAttributes?
            pair = try LinkedPair(
                mode,
                prepare: { central, peripheral in
                    peripheral.onLink = { $0.openAttributes(mtu: 247, server: server) }
                    central.onLink = { attributes = $0.openAttributes(mtu: 247) }
                }
            )
            self.server = server
            client = try #require(attributes).client
        }

        func value(of uuid: BluetoothUUID) throws -> RemoteValue? {
            var result: Result<RemoteValue?, GATTError>?
            client.readValue(of: uuid) { result = $0 }
            pair.world.run { result != nil }
            return try #require(result).get()
        }
    }

    @Test("GAP/IDLE/NAMP/BV-02: the device name is served", arguments: ControllerMode.allCases)
    func theNameIsServed(mode: ControllerMode) throws {
        let session = try Session(mode)
        #expect(try session.value(of: 0x2A00)?.value == PacketBuffer(Array("Harald".utf8)))
    }

    @Test("GAP/GAT/BV-16: a client reads a long device name")
    func aClientReadsTheName() throws {
        // Longer than a client's first response holds, and than the characteristic.
        let session = try Session(name: String(repeating: "n", count: 249))
        let handle = try #require(try session.value(of: 0x2A00)).handle
        var result: Result<PacketBuffer, GATTError>?
        session.client.read(handle) { result = $0 }
        session.pair.world.run { result != nil }
        #expect(try result?.get() == PacketBuffer([UInt8](repeating: 0x6E, count: 248)))
    }

    @Test("GAP/GAT/BV-17: a client reads the appearance")
    func aClientReadsTheAppearance() throws {
        let session = try Session(appearance: 0x0341)
        #expect(try session.value(of: 0x2A01)?.value == [0x41, 0x03])
    }

    @Test func clientsCannotWriteTheNameOrTheAppearance() throws {
        let session = try Session()
        for uuid: BluetoothUUID in [0x2A00, 0x2A01] {
            let handle = try #require(try session.value(of: uuid)).handle
            var result: Result<Void, GATTError>?
            session.client.write([0x41], to: handle) { result = $0 }
            session.pair.world.run { result != nil }
            #expect(result?.refusal == .writeNotPermitted)
        }
    }
}
