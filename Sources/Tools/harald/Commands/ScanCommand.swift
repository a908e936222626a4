import ArgumentParser
import BluetoothTypes
import EventLoops
import GAP
import HCI
import HCIHost
import HCITransports
import Logging

struct ScanCommand: DeviceVerb {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract:
            "Print advertisements whenever they change, including extended ones if the controller supports them.",
        discussion: """
            \(ClientOptions.discussion) Only then are there addresses, and the undecoded data.

            Examples:
              harald scan --seconds 5
              harald scan --until Pulse --service-uuid 180D

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound))
            """
    )

    @OptionGroup var client: ClientOptions

    @Option(help: ArgumentHelp("How long to scan, in seconds.", valueName: "SECONDS"))
    var seconds = 10.0

    @Option(
        help: ArgumentHelp("Stop as soon as this device is found: \(DeviceSelector.forms)", valueName: "DEVICE")
    )
    var until: DeviceSelector?

    @Option(
        name: .customLong("service-uuid"),
        help: ArgumentHelp(
            "Print devices that advertise this service only: a UUID or an assigned name; may be repeated.",
            valueName: "SERVICE"
        ),
        transform: service
    )
    var services: [BluetoothUUID] = []

    @Flag(help: "Print the undecoded data as well, with a controller of its own.")
    var raw = false

    @Flag(help: "Scan passively, without requesting scan responses.")
    var passive = false

    func validate() throws {
        guard seconds > 0, seconds <= 86_400 else {
            throw ValidationError("--seconds must be greater than 0 and at most 86400")
        }
        try client.checkOptions([("--raw", raw), ("--passive", passive)])
    }

    func run() throws {
        if case .controller(let address) = client.place {
            do throws(ToolError) {
                return try scan(on: address)
            } catch {
                throw error.report(json: client.showing.json)
            }
        }
        try runAlone()
    }

    var clientOptions: ClientOptions { client }

    func perform(_ client: DeviceClient) async throws(ToolError) { try await client.scan(plan) }

    private var plan: ScanPlan { ScanPlan(seconds: seconds, until: until, services: services, isRaw: raw) }

    private func scan(on address: ControllerAddress) throws(ToolError) {
        Console.endWithReader()
        let outcome = Outcome()
        Interrupts.onEnd { outcome.finish(.failure($0)) }
        let (loop, line, plan, passive) = (NIOEventLoop(), client.line, plan, passive)
        let (capture, report) = (try line.captureFile(), client.report)
        let listener = loop.make {
            let access = line.startAccess(loop: loop, capture: capture)
            return Listener(access, controller: "\(address)", plan, isActive: !passive, report, outcome.finish)
        }
        loop.submit { [listener] in
            loop.schedule(after: .seconds(plan.seconds)) { listener.value.timeIsOver() }
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

private func service(_ text: String) throws -> BluetoothUUID {
    guard let uuid = typedService(text) else {
        throw ValidationError("\(text.quotedName) is not a service: give a UUID or an assigned name, such as 180D")
    }
    return uuid
}

/// Prints the advertisements that it receives. Lives on its loop.
private final class Listener {
    /// The number of advertisers whose last data is remembered. Repetitions of further ones are printed.
    private static let maximumRemembered = 1_000

    private let access: GenericAccess
    private let observer: Observer
    private let controller: String
    private let plan: ScanPlan
    private let isActive: Bool
    private let report: ToolReport
    private let finish: (Result<Void, ToolError>) -> Void
    private var last: [AdvertiserKey: AdvertisingData] = [:]
    private var heard = HeardDevices()
    private var hasStarted = false

    init(
        _ access: GenericAccess,
        controller: String,
        _ plan: ScanPlan,
        isActive: Bool,
        _ report: ToolReport,
        _ finish: @escaping (Result<Void, ToolError>) -> Void
    ) {
        self.access = access
        observer = Observer(access)
        self.controller = controller
        self.plan = plan
        self.isActive = isActive
        self.report = report
        self.finish = finish
        access.onStateChange = { [weak self] in self?.stateChanged($0) }
    }

    private func stateChanged(_ state: GenericAccess.State) {
        switch state {
        case .off: break
        case .starting:
            if hasStarted { finish(.failure(.controllerFailed(controller, reason: "it was reset"))) }
        case .failed(let error):
            finish(
                .failure(
                    hasStarted
                        ? ToolError(losing: controller, error) : ToolError(error, controller: controller)
                )
            )
        case .ready:
            var settings = ScanSettings.attentive
            settings.isActive = isActive
            do throws(GAPError) {
                try observer.observe(settings) { [weak self] in
                    self?.heard($0)
                } onEnd: { [weak self] in
                    // A missing controller is reported through the device's state.
                    if let error = $0, error != .notReady { self?.failed(error) }
                }
                hasStarted = true
                report.say("scanning")
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
        guard plan.services.isEmpty || sighting.data.serviceUUIDs.contains(where: plan.services.contains) else {
            return
        }
        guard last[key] != sighting.data else { return }
        if last.count < Self.maximumRemembered { last[key] = sighting.data }
        let advertisement = ShownAdvertisement(sighting)
        report.show(advertisement, as: advertisement.line(isRaw: plan.isRaw))
        heard.add(advertisement.sender)
        if plan.until?.fit(advertisement.sender) != nil { finish(.success(())) }
    }

    func timeIsOver() {
        guard hasStarted else {
            return finish(.failure(.controllerFailed(controller, reason: "it does not answer")))
        }
        guard let until = plan.until else { return finish(.success(())) }
        finish(.failure(.noSuchDevice(until, .scan, seconds: plan.seconds, heard: heard)))
    }

    func stop(_ done: @escaping () -> Void) {
        observer.stop()
        access.stop()
        access.whenSilent(done)
    }
}

extension ShownAdvertisement {
    fileprivate init(_ sighting: Sighting) {
        let data = sighting.data
        self.init(
            sender: DeviceCandidate(sighting),
            rssi: sighting.rssi,
            isConnectable: sighting.isConnectable,
            name: data.localName?.text,
            services: data.serviceUUIDs,
            solicitedServices: data.solicitedServiceUUIDs,
            serviceData: data.serviceData.map { ServiceData(service: $0.service, data: $0.data) },
            manufacturerData: data.manufacturerData,
            txPower: data.txPowerLevel,
            packet: Packet(
                isAnonymous: sighting.isAnonymous,
                phys: sighting.phys.map { "\($0.primary)/\($0.secondary)" },
                set: sighting.sid,
                isTruncated: sighting.isTruncated,
                data: data.encoded
            )
        )
    }
}
