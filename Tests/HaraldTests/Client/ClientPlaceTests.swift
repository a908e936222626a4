import HCITransports
import Testing

@testable import harald

@Suite struct ClientPlaceTests {
    private static let running = ["XDG_RUNTIME_DIR": "/run/user/7"]
    private static let usual = ClientPlace.service("/run/user/7/harald/service")
    private static let named = ControllerAddress.tcp(host: "127.0.0.1", port: 9_100)

    private func place(
        controller: ControllerAddress? = nil,
        service: String? = nil,
        _ environment: [String: String],
        listens: Bool = true
    ) -> ClientPlace {
        ClientPlace.choose(controller: controller, service: service, environment: environment) { _ in listens }
    }

    @Test("without a choice, a running service is used, and otherwise the first adapter")
    func defaults() {
        #expect(place(Self.running) == Self.usual)
        #expect(place(Self.running, listens: false) == .controller(.adapter(.first)))
        #expect(place([:], listens: false) == .controller(.adapter(.first)))
    }

    @Test("the command line takes precedence over the environment, and that over what happens to run")
    func precedence() {
        var environment = Self.running
        environment["HARALD_CONTROLLER"] = "tcp:127.0.0.1:9100"
        #expect(place(environment) == .controller(Self.named))
        environment["HARALD_SERVICE"] = "/s"
        #expect(place(environment, listens: false) == .service("/s"))
        #expect(place(controller: .adapter(.first), environment) == .controller(.adapter(.first)))
        environment["HARALD_SERVICE"] = nil
        #expect(place(service: "/t", environment, listens: false) == .service("/t"))
    }

    @Test func emptyVariablesAreNone() {
        let environment = Self.running.merging(["HARALD_CONTROLLER": "", "HARALD_SERVICE": ""]) { $1 }
        #expect(place(environment) == Self.usual)
    }
}
