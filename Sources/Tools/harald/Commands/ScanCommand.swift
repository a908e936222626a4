import ArgumentParser
import BluetoothService
import BluetoothTypes
import EventLoops
import GAP
import HCI
import HCITransports

struct ScanCommand: DeviceVerb {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract:
            "Print advertisements whenever they change, including extended ones if the controller supports them.",
        discussion: """
            \(ClientOptions.discussion) Only then are there addresses, and the undecoded data.

            Examples:
              harald scan --timeout 5
              harald scan --until Pulse --service-uuid 180D

            \(ExitStatus.text(.controllerUnreachable, .controllerFailed, .deviceNotFound))
            """
    )

    @OptionGroup var client: ClientOptions

    @Option(help: ArgumentHelp("The time to scan, in seconds. With --until, the time limit.", valueName: "SECONDS"))
    var timeout = 10.0

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
        try checkSeconds(timeout, of: "--timeout")
        try client.checkOptions([("--raw", raw), ("--passive", passive)])
    }

    func execute() throws(ToolError) {
        guard case .controller(let address) = client.place else { return try runAlone() }
        try scan(on: address)
    }

    var clientOptions: ClientOptions { client }

    func perform(_ client: DeviceClient) async throws(ToolError) { try await client.scan(plan) }

    private var plan: ScanPlan { ScanPlan(seconds: timeout, until: until, services: services, isRaw: raw) }

    private func scan(on address: ControllerAddress) throws(ToolError) {
        let (plan, passive, report) = (plan, passive, client.report)
        try client.perform(on: address, SystemConfiguration()) { system, finish in
            let scan = ControllerScan("\(address)", plan, report, in: system, finish)
            scan.begin(isActive: !passive)
            system.loop.schedule(after: .seconds(plan.seconds)) { scan.timedOut() }
            return { finish(.failure($0)) }
        }
    }
}

private func service(_ text: String) throws -> BluetoothUUID {
    guard let uuid = typedService(text) else {
        throw ValidationError("\(text.quotedName) is not a service: give a UUID or an assigned name, such as 180D")
    }
    return uuid
}

/// Prints what a controller of the command's own receives. Lives on the loop of its system.
private final class ControllerScan {
    private let controller: String
    private let services: [BluetoothUUID]
    private let system: BluetoothSystem
    private let finish: (Result<Void, ToolError>) -> Void
    private var output: ScanOutput

    init(
        _ controller: String,
        _ plan: ScanPlan,
        _ report: ToolReport,
        in system: BluetoothSystem,
        _ finish: @escaping (Result<Void, ToolError>) -> Void
    ) {
        self.controller = controller
        services = plan.services
        self.system = system
        self.finish = finish
        output = ScanOutput(plan, report)
    }

    func begin(isActive: Bool) {
        var settings = ScanSettings.attentive
        settings.isActive = isActive
        system.begin(
            OpenScan(
                settings,
                onStart: { [report = output.report] in report.say("scanning") },
                onSighting: { [weak self] in self?.receive($0) },
                onEnd: { [weak self] in self?.ended($0) }
            )
        )
    }

    private func receive(_ sighting: Sighting) {
        guard services.isEmpty || sighting.data.serviceUUIDs.contains(where: services.contains) else { return }
        if output.show(ShownAdvertisement(sighting)) { finish(.success(())) }
    }

    private func ended(_ error: GAPError) {
        guard error == .notReady else {
            return finish(.failure(ToolError(error, doing: "scan", controller: controller)))
        }
        system.explainReset(of: controller) { [finish] in finish(.failure($0)) }
    }

    func timedOut() {
        guard system.controllers.hasWorked else {
            return finish(.failure(.controllerFailed(controller, reason: "it does not answer")))
        }
        do throws(ToolError) {
            try output.end()
            finish(.success(()))
        } catch {
            finish(.failure(error))
        }
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
