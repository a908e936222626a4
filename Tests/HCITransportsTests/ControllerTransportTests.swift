import EventLoops
import HCI
import HCITransports
import Testing

@Suite struct ControllerTransportTests {
    @Test(
        "a controller that cannot be reached is told, also where that is known at once",
        arguments: [
            "unix:/nowhere/at/all", "serial:/dev/nothing-at-all", "serial:/dev/null,115200,h5", "tcp:127.0.0.1:1",
        ]
    )
    func whatCannotBeReachedIsTold(text: String) async throws {
        let (address, loop) = (try ControllerAddress(text), NIOEventLoop())
        let error: HCITransportError = await withCheckedContinuation { continuation in
            loop.submit {
                let transport = ControllerTransport(address, loop: loop)
                // It lives until it has told.
                transport.onClose = { error in
                    withExtendedLifetime(transport) { continuation.resume(returning: error) }
                }
            }
        }
        guard case .unreachable(address: text, reason: _) = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("AB-H08: a controller is where its address says", arguments: ["tcp:127.0.0.1:1", "tcp:[::1]:1"])
    func aControllerIsWhereItsAddressSays(text: String) throws {
        let address = try ControllerAddress(text)
        let loop = NIOEventLoop()
        let transport = loop.make { ControllerTransport(address, loop: loop) }
        #expect(transport.with { $0.place } == text)
        transport.with { $0.close() }
    }
}
