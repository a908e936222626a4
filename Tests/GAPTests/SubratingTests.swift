import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Testing

@testable import GAP

/// The connection subrating procedures (Core Vol 3 Part C 9.3.16, 9.3.17), between two complete stacks.
@Suite struct SubratingTests {
    private static let allowed = Subrating.Parameters(factor: 1...10, latency: 1, continuation: 0, timeout: 3_200)
    private static let wanted = Subrating.Parameters(factor: 4...6, timeout: 1_000)

    private func pair(centralAllows: Bool = true, peripheralAllows: Bool = true) throws -> LinkedPair {
        let prepare: (GAPDevice, GAPDevice) -> Void = { central, peripheral in
            var results: [Bool] = []
            let willing = (centralAllows ? [central] : []) + (peripheralAllows ? [peripheral] : [])
            for device in willing {
                device.access.subrating.allow(Self.allowed) { results.append((try? $0.get()) != nil) }
            }
            central.world.run(.milliseconds(100))
            #expect(results == willing.map { _ in true })
        }
        return try LinkedPair(.extended, prepare: prepare)
    }

    private func request(
        _ device: GAPDevice,
        _ link: AccessLink,
        _ parameters: Subrating.Parameters = Self.wanted
    ) -> Result<LESubrateChange, GAPError>? {
        var result: Result<LESubrateChange, GAPError>?
        device.access.subrating.request(parameters, on: link) { result = $0 }
        device.world.run(for: .seconds(10)) { result != nil }
        device.world.run(.seconds(1))
        return result
    }

    @Test("GAP/CSUB/CSR/BV-01: a peripheral requests a subrate, and receives the central's decision")
    func aPeripheralAsksForASubrate() throws {
        let pair = try pair()
        var heard: [LESubrateChange] = []
        pair.central.access.subrating.onChange = { link, event in
            #expect(link === pair.centralLink)
            heard.append(event)
        }
        let event = try #require(try request(pair.peripheral, pair.peripheralLink)?.get())
        #expect(event.status == .success)
        #expect(event.factor == 6)
        #expect(event.supervisionTimeout == 1_000)
        #expect(heard.map(\.factor) == [6])
        for link in [pair.centralLink, pair.peripheralLink] {
            #expect(link.connection.subrateFactor == 6)
            #expect(link.connection.supervisionTimeout == 1_000)
        }
        pair.world.run(.seconds(30))
        #expect(pair.centralLink.isOpen)
        #expect(pair.peripheralLink.isOpen)
    }

    @Test("GAP/CSUB/CSU/BV-01: a central changes the subrate of a link, and both ends are notified")
    func aCentralChangesTheSubrate() throws {
        let pair = try pair()
        var heard: [LESubrateChange] = []
        pair.peripheral.access.subrating.onChange = { _, event in heard.append(event) }
        let event = try #require(try request(pair.central, pair.centralLink)?.get())
        #expect(event.status == .success)
        #expect(event.factor == 6)
        #expect(event.supervisionTimeout == 1_000)
        #expect(heard.map(\.factor) == [6])
        for link in [pair.centralLink, pair.peripheralLink] {
            #expect(link.connection.subrateFactor == 6)
            #expect(link.connection.supervisionTimeout == 1_000)
        }
        pair.world.run(.seconds(30))
        #expect(pair.centralLink.isOpen)
        #expect(pair.peripheralLink.isOpen)
    }

    @Test func whatTheCentralDoesNotAllowIsRefused() throws {
        let pair = try pair()
        let result = request(pair.peripheral, pair.peripheralLink, .init(factor: 11...20, timeout: 1_000))
        #expect(result == .failure(.rejected(.invalidLinkLayerParameters)))
    }

    @Test func aPeerThatKnowsNoSubratesIsNotAsked() throws {
        let refused = Result<LESubrateChange, GAPError>.failure(
            .refused(LESubrateRequest.opcode, .unsupportedRemoteFeature)
        )
        let one = try pair(centralAllows: false)
        #expect(request(one.peripheral, one.peripheralLink) == refused)
        let other = try pair(peripheralAllows: false)
        #expect(request(other.central, other.centralLink) == refused)
    }

    @Test func aLinkThatEndsEndsTheRequest() throws {
        let pair = try pair()
        var results: [Result<LESubrateChange, GAPError>] = []
        pair.peripheral.access.subrating.request(Self.wanted, on: pair.peripheralLink) { results.append($0) }
        pair.peripheral.access.subrating.request(Self.wanted, on: pair.peripheralLink) { results.append($0) }
        #expect(results == [.failure(.busy)])
        pair.peripheralLink.terminate()
        pair.world.run(.seconds(2))
        #expect(results.count == 2)
    }
}
