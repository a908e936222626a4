import ArgumentParser
import BluetoothService
import BluetoothTypes
import CoreBluetooth
import Demos
import EventLoops
import GAP
import HCI
import HCIHost
import HCITransports
import Security
import ServiceProcess

/// The failure of a command. Each kind has an exit status.
enum ToolError: Error, CustomStringConvertible {
    /// A command that searches for a device.
    enum Search {
        /// `scan --until`, which stops at any device.
        case scan
        /// `explore` and other commands that need a device that accepts connections.
        case explore

        /// The devices that count as found.
        fileprivate var device: String { self == .scan ? "device" : "connectable device" }
    }

    case controllerUnreachable(String, reason: String)
    case controllerFailed(String, reason: String)
    case controllerRefuses(String, reason: String)
    case controllerFull(String)
    /// A controller that has worked is no longer there.
    case controllerGone(String)
    /// The capture that takes the place of a controller is over.
    case captureOver(String)
    case noSuchDevice(DeviceSelector, Search, seconds: Double, found: ScannedDevices)
    /// An address, which a service does not know devices by.
    case addressOfService(String)
    case ambiguousDevice(DeviceSelector, [DeviceCandidate])
    case peerVanished(String, doing: String, reason: String)
    case notSecured(String, reason: String)
    case bonds(BondError)
    case capture(OutputFile.Failure)
    case incomplete(String)
    case wrapping(WrappingError)
    case service(String)
    /// Bluetooth cannot be used, by the state that a manager has.
    case bluetooth(CBManagerState)
    /// The service waits for the user to allow this tool Bluetooth.
    case permissionWaits
    /// `explain` has told of a failure.
    case captureShowsFailure
    /// The user ended the command by this signal.
    case interrupted(Int32)

    static func storeInUse(_ place: String) -> ToolError {
        .service(
            """
            the store \(place) is in use by another process, probably another `harald service`; stop it, or choose another \
            directory with --store
            """
        )
    }

    /// A controller at `address` could not be brought up, or has failed.
    init(_ error: HCIHostError, controller address: String) {
        if case .transport(.unreachable(_, let reason)) = error {
            self = .controllerUnreachable(address, reason: reason)
        } else if error.isWithoutRoom {
            self = .controllerFull(address)
        } else {
            self = .controllerFailed(address, reason: "\(error)")
        }
    }

    /// The controller at `address`, which has worked, has failed.
    init(losing address: String, _ error: HCIHostError) {
        switch error {
        case .transport(.unreachable), .transport(.closedByPeer): self = .controllerGone(address)
        default: self = .controllerFailed(address, reason: "\(error)")
        }
    }

    /// The controller at `address` cannot perform an operation, such as "advertise". An invalid request is not the
    /// controller's fault.
    init(_ error: GAPError, doing what: String, controller address: String) {
        switch error {
        case .impossible, .advertisingData: self = .incomplete("cannot \(what): \(error)")
        case .refused, .needsExtendedAdvertising, .noAdvertisingSetLeft:
            self = .controllerRefuses(address, reason: "cannot \(what): \(error)")
        default: self = .controllerFailed(address, reason: "cannot \(what): \(error)")
        }
    }

    var exitStatus: Int32 {
        switch self {
        case .controllerUnreachable: 3
        case .controllerFailed, .controllerRefuses, .controllerFull, .controllerGone: 4
        case .noSuchDevice, .ambiguousDevice, .addressOfService: 5
        case .peerVanished, .captureOver: 6
        case .notSecured: 7
        case .captureShowsFailure: 8
        case .bluetooth(let state): state == .unsupported ? 3 : state == .unauthorized ? 1 : 4
        case .capture, .incomplete, .bonds, .wrapping, .service, .permissionWaits: 1
        // As shells report the end of a program by a signal.
        case .interrupted(let signal): 128 + signal
        }
    }

    /// A name for programs, which stays the same.
    var code: String {
        switch self {
        case .controllerUnreachable: "controllerUnreachable"
        case .controllerFailed, .controllerGone: "controllerFailed"
        case .controllerRefuses, .controllerFull: "controllerRefuses"
        case .captureOver: "captureOver"
        case .noSuchDevice, .addressOfService: "deviceNotFound"
        case .ambiguousDevice: "deviceAmbiguous"
        case .peerVanished: "peerLost"
        case .notSecured: "notSecured"
        case .bonds: "bonds"
        case .capture: "capture"
        case .incomplete: "failed"
        case .wrapping: "package"
        case .service: "service"
        case .bluetooth(let state): state == .unauthorized ? "unauthorized" : "bluetoothUnavailable"
        case .permissionWaits: "unauthorized"
        case .captureShowsFailure: "captureShowsFailure"
        case .interrupted: "interrupted"
        }
    }

    /// Whether the user knows about it without being told.
    var isQuiet: Bool {
        switch self {
        case .interrupted, .captureShowsFailure: true
        default: false
        }
    }

    private static func checks(of address: String) -> String {
        address.hasPrefix("tcp:")
            ? "that it uses H4 and that no other program uses it"
            : "that no other program uses it, and ask `harald doctor` about it"
    }

    var description: String {
        switch self {
        case .controllerUnreachable(let address, let reason):
            Self.textOfUnreachable(address, reason: reason)
        case .controllerFailed(let address, let reason):
            "the controller at \(address) failed: \(reason); check \(Self.checks(of: address))"
        case .controllerRefuses(let address, let reason):
            "the controller at \(address) rejected the request: \(reason)"
        case .controllerFull(let address):
            """
            the controller at \(address) accepts no more connections: all of them are in use; end a program that uses \
            one, or start another `harald controllers` on a port of its own
            """
        case .controllerGone(let address):
            "the controller at \(address) is gone; check that it is running or plugged in, then try again"
        case .captureOver(let address):
            "\(address) is over: nothing in it is left to play"
        case .noSuchDevice(let selector, let search, let seconds, let heard):
            """
            no \(selector.description(of: search.device)) was found within \(seconds) s; \(heard.description); check that it is \
            on and in range, or allow more time with --timeout
            """
        case .addressOfService(let address):
            """
            cannot find \(address): through a service, devices have identifiers rather than addresses; `harald scan` shows \
            them
            """
        case .ambiguousDevice(let selector, let devices):
            "\(selector.quoted) fits \(count(devices.count, "device")); name one of them: "
                + devices.map(\.label).joined(separator: ", ")
        case .peerVanished(let name, let doing, let reason):
            "\(name.quotedName) was lost while \(doing): \(reason); check that it is on and in range, then try again"
        case .notSecured(let name, let reason):
            "the link to \(name.quotedName) is not secured: \(reason)"
        case .bonds(let error):
            "\(error)"
        case .capture(let error):
            "\(error)"
        case .wrapping(let error):
            "\(error)"
        case .incomplete(let what), .service(let what):
            what
        case .bluetooth(let state): Self.text(of: state)
        case .permissionWaits:
            """
            the Bluetooth service asks the user whether the app "harald" may use Bluetooth, and has no answer; start `harald \
            agent`, answer its prompt, and try again
            """
        case .captureShowsFailure: "the capture shows a failure"
        case .interrupted(let signal): "interrupted by signal \(signal)"
        }
    }

    private static func textOfUnreachable(_ address: String, reason: String) -> String {
        let sockets = ["tcp:": "the host and port", "unix:": "the path and its permissions"]
        guard let socket = sockets.first(where: { address.hasPrefix($0.key) }) else {
            // For other controllers, the reason already includes what to do.
            guard address == "\(ControllerAddress.adapter(.first))" else {
                return "cannot use the controller \(address): \(reason)"
            }
            return "cannot use an adapter of this machine: \(reason)" + remedyWithoutAdapter
        }
        return "cannot reach the controller at \(address): \(reason); start it, or check \(socket.value)"
    }

    /// Where else there may be Bluetooth, for a user that has named no controller.
    private static var remedyWithoutAdapter: String {
        let environment = ProcessInfo.processInfo.environment
        let services = [
            environment[ServicePath.variable], ServicePath.ofUser(environment: environment), ServicePath.ofMachine,
        ]
        guard services.compactMap(\.self).contains(where: ServicePath.isListening) else {
            return "; without an adapter, `harald controllers --listen` has virtual ones"
        }
        return "; a service is running, which this command does not use: `harald status` shows its controller"
    }

    private static func text(of state: CBManagerState) -> String {
        switch state {
        case .unauthorized:
            """
            the Bluetooth service does not let this tool use Bluetooth; allow the app "harald" at `harald agent`, or in the \
            policy file
            """
        case .unsupported: "the Bluetooth service has no usable controller; `harald status` says why"
        default: "Bluetooth is \(stateName(state)); `harald status` says why"
        }
    }

    /// Prints the error, with `json` as a document on standard output as well, and returns the exit status to throw.
    func report(json: Bool = false) -> ExitCode {
        ToolReport(json: json).fail(self)
        return ExitCode(exitStatus)
    }
}

/// The exit statuses of commands, for their help.
enum ExitStatus: String, CaseIterable {
    case success = "0 success"
    case failure = "1 any other failure"
    case controllerUnreachable = "3 controller unreachable"
    case controllerFailed = "4 controller failed or rejected the request"
    case deviceNotFound = "5 device not found in time, or several fit"
    case peerLost = "6 peer lost"
    case notSecured = "7 link not secured"
    case captureShowsFailure = "8 the capture shows that something failed, or that nothing came of it"
    case usage = "64 usage error"
    case interrupted = "130 interrupted (Ctrl-C)"

    /// Returns a sentence with the statuses that every command has, and these.
    static func text(_ own: ExitStatus...) -> String { sentence([.success, .failure, .usage, .interrupted] + own) }

    /// The same for commands that run until they are interrupted, which is their success.
    static func textUntilInterrupted(_ own: ExitStatus...) -> String { sentence([.success, .failure, .usage] + own) }

    private static func sentence(_ statuses: [ExitStatus]) -> String {
        "Exit status: " + allCases.filter(statuses.contains).map(\.rawValue).joined(separator: ", ") + "."
    }
}

extension ToolReport {
    /// Prints why the command fails: a document on standard output for programs, and in any case a line on standard
    /// error.
    func fail(_ error: ToolError) {
        guard !error.isQuiet else { return }
        if isJSON { show(FailureDocument(error), as: []) }
        Console.problem("harald: \(error.description)")
    }
}

/// The failure of a command.
struct FailureDocument: ReportDocument {
    static let event = "error"

    let code: String
    let message: String
    let exitStatus: Int32
    /// The devices to choose from, if several match.
    let candidates: [DeviceDocument]?

    init(_ error: ToolError) {
        code = error.code
        message = error.description
        exitStatus = error.exitStatus
        if case .ambiguousDevice(_, let devices) = error {
            candidates = devices.map(\.document)
        } else {
            candidates = nil
        }
    }
}

extension BluetoothSystem {
    /// Calls `report` with the error of a scan or a link that has ended with its controller. The system records the
    /// cause after it has ended them.
    func explainReset(of controller: String, _ report: @escaping (ToolError) -> Void) {
        loop.schedule(after: .zero) { [self] in
            switch controllers.lastFailure {
            case .transport(let error)?: report(ToolError(losing: controller, .transport(error)))
            case let cause?: report(.controllerFailed(controller, reason: "\(cause); it was reset"))
            case nil: report(.controllerFailed(controller, reason: "it was reset"))
            }
        }
    }
}
