import EventLoops
import HCITransports
import Testing

@Suite struct ControllerTransportTests {
    @Test("AB-H08: a controller is where its address says", arguments: ["tcp:127.0.0.1:1", "tcp:[::1]:1"])
    func aControllerIsWhereItsAddressSays(text: String) throws {
        let address = try ControllerAddress(text)
        let loop = NIOEventLoop()
        let transport = loop.make { ControllerTransport(address, loop: loop) }
        #expect(transport.with { $0.place } == text)
        transport.with { $0.close() }
    }
}
