import ArgumentParser
import BluetoothTypes
import EventLoops
import GAP
import HCI
import HCIHost
import HCITransports
import Logging

struct ScanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract:
            "Print advertisements whenever they change, including extended ones if the controller supports them."
    )

    @OptionGroup var line: ControllerOptions

    @Option(help: "How long to scan, in seconds.")
    var seconds = 10.0

    @Option(help: "Stop as soon as a device with this name is found.")
    var until: String?

    @Flag(help: "Scan passively, without requesting scan responses.")
    var passive = false

    func validate() throws {
        guard seconds > 0, seconds <= 86_400 else {
            throw ValidationError("--seconds must be greater than 0 and at most 86400")
        }
    }

    func run() throws {
        do throws(ToolError) {
            try scan()
        } catch {
            throw error.report()
        }
    }

    private func scan() throws(ToolError) {
        Console.endWithReader()
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let (loop, line, until, passive) = (NIOEventLoop(), line, until, passive)
        let capture = try line.captureFile()
        let seconds = seconds
        let listener = loop.make {
            let access = line.startAccess(loop: loop, capture: capture)
            return Listener(access, controller: "\(line.controller)", until: until, isActive: !passive, outcome.finish)
        }
        loop.submit { [listener] in
            loop.schedule(after: .seconds(seconds)) { listener.value.timeIsOver(after: seconds) }
        }
        let result: Result<Void, ToolError>
        do throws(ToolError) {
            try outcome.wait()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        listener.stop { $0.stop($1) }
        try result.get()
    }
}

/// Prints the advertisements that it receives. Lives on its loop.
private final class Listener {
    /// The number of advertisers whose last data is remembered. Repetitions of further ones are printed.
    private static let maximumRemembered = 1_000

    private let access: GenericAccess
    private let observer: Observer
    private let controller: String
    private let until: String?
    private let isActive: Bool
    private let finish: (Result<Void, ToolError>) -> Void
    private var heard: [AdvertiserKey: AdvertisingData] = [:]
    private var hasStarted = false

    init(
        _ access: GenericAccess,
        controller: String,
        until: String?,
        isActive: Bool,
        _ finish: @escaping (Result<Void, ToolError>) -> Void
    ) {
        self.access = access
        observer = Observer(access)
        self.controller = controller
        self.until = until
        self.isActive = isActive
        self.finish = finish
        access.onStateChange = { [weak self] in self?.stateChanged($0) }
    }

    private func stateChanged(_ state: GenericAccess.State) {
        switch state {
        case .off, .starting: break
        case .failed(let error): finish(.failure(ToolError(error, controller: controller)))
        case .ready:
            var settings = ScanSettings.attentive
            settings.isActive = isActive
            do throws(GAPError) {
                try observer.observe(settings) { [weak self] in
                    self?.heard($0)
                } onEnd: { [weak self] in
                    if let error = $0 { self?.failed(error) }
                }
                hasStarted = true
                Console.line("scanning")
            } catch {
                failed(error)
            }
        }
    }

    private func failed(_ error: GAPError) {
        finish(.failure(ToolError(error, doing: "scan", controller: controller)))
    }

    private func heard(_ sighting: Sighting) {
        let key = AdvertiserKey(sighting.address, sid: sighting.sid)
        guard heard[key] != sighting.data else { return }
        if heard.count < Self.maximumRemembered { heard[key] = sighting.data }
        Console.line(describe(sighting))
        if let until, sighting.data.localName?.text == until { finish(.success(())) }
    }

    private func describe(_ sighting: Sighting) -> String {
        let sender = sighting.isAnonymous ? "anonymous" : "\(sighting.address) (\(sighting.address.kind))"
        var words = [sender, "\(sighting.rssi) dBm"]
        if let phys = sighting.phys { words.append("extended \(phys.primary)/\(phys.secondary)") }
        if let sid = sighting.sid { words.append("set \(sid)") }
        if sighting.isConnectable { words.append("connectable") }
        if sighting.isTruncated { words.append("truncated") }
        if let name = sighting.data.localName?.text { words.append(name.quotedName) }
        words.append("\(sighting.data.encodedLength) octets")
        return words.joined(separator: ", ") + ": \(sighting.data.encoded)"
    }

    func timeIsOver(after seconds: Double) {
        guard hasStarted else {
            return finish(.failure(.controllerFailed(controller, reason: "it does not answer")))
        }
        guard let until else { return finish(.success(())) }
        finish(.failure(.noSuchDevice(until, .scan, seconds: seconds, heard: heard.count)))
    }

    func stop(_ done: @escaping () -> Void) {
        observer.stop()
        access.stop()
        access.whenSilent(done)
    }
}
