import BluetoothTypes
import HCI
import HCIHost

/// An event in the modes and procedures of a device.
package enum AccessEvent: StackEvent {
    case cannotAdvertise(HCICommandError)
    case cannotScan(HCICommandError)
    case cannotConnect(HCICommandError)
    /// The controller claims to have a link already; the given number of connections stay pending.
    case staysPending(Int, HCICommandError)
    case cannotWait(for: BluetoothAddress, HCICommandError)
    case cannotUpdate(ConnectionHandle, HCICommandError)
    case cannotLengthen(ConnectionHandle, HCICommandError)
    case cannotDisconnect(ConnectionHandle, HCICommandError)

    /// The controller does not work as it claims, and the host uses a fall-back.
    case fallsBack(ControllerFallback, isTrial: Bool)

    package static var module: StackModule { .access }

    package var weight: EventWeight {
        switch self {
        // The link may have ended at the same time.
        case .cannotUpdate, .cannotLengthen, .cannotDisconnect: .detail
        case .cannotAdvertise, .cannotScan, .cannotConnect, .staysPending, .cannotWait: .warning
        case .fallsBack: .information
        }
    }

    package var peer: BluetoothAddress? {
        if case .cannotWait(let peer, _) = self { peer } else { nil }
    }

    package var link: ConnectionHandle? {
        switch self {
        case .cannotUpdate(let link, _), .cannotLengthen(let link, _), .cannotDisconnect(let link, _): link
        case .cannotAdvertise, .cannotScan, .cannotConnect, .staysPending, .cannotWait, .fallsBack: nil
        }
    }

    package var description: String {
        switch self {
        case .cannotAdvertise(let error): "cannot advertise: \(error)"
        case .cannotScan(let error): "cannot scan: \(error)"
        case .cannotConnect(let error): "cannot connect: \(error)"
        case .staysPending(let count, let error):
            "\(count) pending connection\(count == 1 ? "" : "s") stay\(count == 1 ? "s" : "") pending: \(error); will retry"
        case .cannotWait(let peer, let error): "cannot add \(peer) to the filter accept list: \(error)"
        case .cannotUpdate(_, let error): "cannot update the connection: \(error)"
        case .cannotLengthen(_, let error): "cannot request long packets: \(error)"
        case .cannotDisconnect(_, let error): "cannot disconnect: \(error)"
        case .fallsBack(let fallback, let isTrial):
            "the controller does not work as it claims; \(isTrial ? "trying" : "falling back to") \(fallback)"
        }
    }
}
