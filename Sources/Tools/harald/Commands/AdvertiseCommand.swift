import ArgumentParser
import BluetoothTypes
import EventLoops
import GAP
import GATT
import HCI
import HCIHost
import HCITransports
import Logging

struct AdvertiseCommand: ShowingCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise",
        abstract: "Advertise data until interrupted, up to 1,650 octets with extended advertising.",
        discussion: """
            A central that connects finds only a Generic Access service.

            Examples:
              harald advertise --name Lamp
              harald advertise --extended --manufacturer FFFF0102
              harald advertise --json

            \(ExitStatus.textUntilInterrupted(.controllerUnreachable, .controllerFailed))
            """
    )

    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case connectable, scannable, nonConnectable = "non-connectable"
    }

    @OptionGroup var line: ControllerOptions
    @OptionGroup var showing: ShowingOptions

    @Option(help: ArgumentHelp("The name to advertise.", valueName: "NAME"))
    var name = "Harald"

    @Option(
        help: ArgumentHelp(
            "Manufacturer data in hexadecimal, company identifier first; may be repeated.",
            valueName: "HEX"
        )
    )
    var manufacturer: [String] = []

    @Option(help: ArgumentHelp("Whether centrals can connect or request a scan response.", valueName: "MODE"))
    var mode = Mode.connectable

    @Flag(help: "Use extended advertising (Bluetooth 5.0).")
    var extended = false

    @Flag(help: "Send the data of extended advertising on the 2M PHY.")
    var fast = false

    func validate() throws {
        guard extended || !fast else { throw ValidationError("--fast requires --extended") }
        for data in manufacturer where (octets(hexadecimal: data)?.count ?? 0) < 2 {
            throw ValidationError("\(data) is not two or more octets in hexadecimal")
        }
    }

    private var structures: AdvertisingData {
        var data = AdvertisingData([.localName(.init(name))])
        for text in manufacturer {
            data.append(AdvertisingStructure(.manufacturerData, PacketBuffer(octets(hexadecimal: text) ?? [])))
        }
        return data
    }

    /// The advertisement, with the data in the packets that have space for it.
    private var advertisement: AdvertisingConfiguration {
        let flags = AdvertisingData([.flags([.generalDiscoverable, .classicNotSupported])])
        let isScanned = mode == .scannable
        var result: AdvertisingConfiguration
        switch mode {
        case .connectable: result = AdvertisingConfiguration(.connectable, data: flags.merged(with: structures))
        case .nonConnectable: result = AdvertisingConfiguration(.nonConnectable, data: structures)
        case .scannable: result = AdvertisingConfiguration(.scannable, scanResponse: structures)
        }
        if isScanned, !extended { result.data = flags }
        result.outlastsConnections = true
        guard extended else { return result }
        var packets = AdvertisingConfiguration.ExtendedPackets()
        if fast { packets.secondaryPHY = .le2M }
        result.packets = .extended(packets)
        return result
    }

    func execute() throws(ToolError) {
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let (loop, line, name, advertisement) = (NIOEventLoop(), line, name, advertisement)
        let report = report
        let capture = try line.captureFile()
        let device = loop.make {
            let access = line.startAccess(loop: loop, capture: capture)
            return AdvertisedDevice(
                access,
                name: name,
                advertisement,
                controller: "\(line.chosen)",
                report,
                outcome.finish
            )
        }
        defer { device.stop { $0.stop($1) } }
        try outcome.wait()
    }
}

/// That advertising has started.
private struct AdvertisingDocument: ReportDocument {
    static let event = "advertising"

    /// The length of the data in the advertising packets.
    let octets: Int
}

/// Advertises, and serves the device name to connected centrals. Lives on its loop.
private final class AdvertisedDevice {
    private let access: GenericAccess
    private let set: HostAdvertisingSet
    private let server = GATTServer(database: GATTDatabase())
    private let advertisement: AdvertisingConfiguration
    private let controller: String
    private let report: ToolReport
    private let finish: (Result<Void, ToolError>) -> Void

    init(
        _ access: GenericAccess,
        name: String,
        _ advertisement: AdvertisingConfiguration,
        controller: String,
        _ report: ToolReport,
        _ finish: @escaping (Result<Void, ToolError>) -> Void
    ) {
        self.access = access
        self.advertisement = advertisement
        self.controller = controller
        self.report = report
        self.finish = finish
        set = access.advertiser.addSet()
        do throws(GATTDatabaseError) {
            _ = try server.database.add(.genericAccess(deviceName: name, appearance: 0))
        } catch {
            finish(.failure(.incomplete("cannot serve the name \"\(name)\": \(error)")))
        }
        access.onStateChange = { [weak self] in self?.stateChanged($0) }
        access.onLink = { [weak self] in self?.linked($0) }
        set.onStarted = { [report] in
            let document = AdvertisingDocument(octets: advertisement.data.encodedLength)
            report.show(document, as: "advertising \(document.octets) octets")
        }
        set.onFailed = { [weak self] in self?.failed($0) }
    }

    private func stateChanged(_ state: GenericAccess.State) {
        switch state {
        case .off, .starting: break
        case .failed(let error): finish(.failure(ToolError(error, controller: controller)))
        case .ready: set.want(advertisement)
        }
    }

    private func failed(_ error: GAPError) {
        finish(.failure(ToolError(error, doing: "advertise", controller: controller)))
    }

    private func linked(_ link: AccessLink) {
        let address = "\(link.connection.peerAddress)"
        let device = DeviceDocument(address: address)
        report.show(LinkDocument(device: device, state: "connected"), as: "connected to \(address)")
        link.openAttributes(mtu: 247, server: server)
        link.onEnd = { [report] _ in
            report.show(LinkDocument(device: device, state: "disconnected"), as: "disconnected")
        }
    }

    func stop(_ done: @escaping () -> Void) {
        set.want(nil)
        access.disconnectAll(within: .seconds(1)) { [access] in
            access.stop()
            access.whenSilent(done)
        }
    }
}
