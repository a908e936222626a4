import ArgumentParser
import BluetoothTypes
import Bonds
import GAP
import HCI
import HCIHost

/// The failure of a command. Each kind has an exit status.
enum ToolError: Error, CustomStringConvertible {
    case controllerUnreachable(String, reason: String)
    case controllerFailed(String, reason: String)
    case controllerRefuses(String, reason: String)
    case noSuchDevice(String, seconds: Double, heard: Int)
    case peerVanished(String, doing: String, reason: String)
    case notSecured(String, reason: String)
    case bonds(BondError)
    case capture(CaptureError)
    case incomplete(String)
    case wrapping(String)
    case service(String)

    /// The store is already open in another process.
    static func storeInUse(_ place: String) -> ToolError {
        .service(
            """
            another process has the store \(place) open, probably another `harald service`; end that one, or choose another \
            directory with --store
            """
        )
    }

    /// A controller at `address` could not be brought up, or has failed.
    init(_ error: HCIHostError, controller address: String) {
        if case .transport(.unreachable(_, let reason)) = error {
            self = .controllerUnreachable(address, reason: reason)
        } else {
            self = .controllerFailed(address, reason: "\(error)")
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
        case .controllerFailed, .controllerRefuses: 4
        case .noSuchDevice: 5
        case .peerVanished: 6
        case .notSecured: 7
        case .capture, .incomplete, .bonds, .wrapping, .service: 1
        }
    }

    var description: String {
        switch self {
        case .controllerUnreachable(let address, let reason):
            // For a kernel adapter, the reason already includes what to do.
            address.hasPrefix("tcp:")
                ? "the controller at \(address) cannot be reached: \(reason); start it, or check host and port"
                : "the controller \(address) cannot be had: \(reason)"
        case .controllerFailed(let address, let reason):
            """
            the controller at \(address) does not work: \(reason); check that it speaks H4 and that nobody else uses \
            it
            """
        case .controllerRefuses(let address, let reason):
            "the controller at \(address) does not do what it was asked for: \(reason)"
        case .noSuchDevice(let name, let seconds, let heard):
            """
            no connectable device called \(name.quotedName) was heard within \(seconds) s (\(heard) others were); check the name, \
            or give it more time with --timeout
            """
        case .peerVanished(let name, let doing, let reason):
            "\(name.quotedName) vanished while \(doing): \(reason); check that it is on and near, then try again"
        case .notSecured(let name, let reason):
            "the link to \(name.quotedName) is not secured: \(reason)"
        case .bonds(let error):
            "\(error)"
        case .capture(let error):
            "\(error)"
        case .incomplete(let what), .wrapping(let what), .service(let what):
            what
        }
    }

    /// Prints the error to standard error and returns the exit status to throw.
    func report() -> ExitCode {
        Console.problem("harald: \(description)")
        return ExitCode(exitStatus)
    }
}
