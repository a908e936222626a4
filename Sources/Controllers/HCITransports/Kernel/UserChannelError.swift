import Foundation

/// The reason why a kernel adapter cannot be claimed. Its description says what to do.
package enum UserChannelError: Error, Hashable, Sendable {
    /// The kernel has no Bluetooth, or not in this network namespace.
    case noBluetooth
    /// The named adapter does not exist.
    case noSuchAdapter(String, known: [String])
    /// The machine has no adapter.
    case noAdapters
    /// Adapters exist, but none is usable. Has the reason for each.
    indirect case noneUsable([UserChannelError])
    /// This process lacks the permission.
    case noPermission(String)
    /// Another user holds the adapter.
    case busy(String, KernelAdapter.Holder)
    /// The radio is blocked by rfkill.
    case blocked(String)
    /// The kernel reports another error.
    case failed(String, asked: String, code: Int32)

    /// Translates an error of the kernel. `asked` names the operation that failed.
    init(_ error: ErrorNumber, of adapter: String, asked: String, holder: KernelAdapter.Holder = .nobody) {
        switch error.code {
        case EAFNOSUPPORT, EPROTONOSUPPORT: self = .noBluetooth
        case EPERM, EACCES: self = .noPermission(adapter)
        case EBUSY: self = .busy(adapter, holder)
        case ERFKILL: self = .blocked(adapter)
        case ENODEV: self = .noSuchAdapter(adapter, known: [])
        default: self = .failed(adapter, asked: asked, code: error.code)
        }
    }
}

extension UserChannelError: CustomStringConvertible {
    /// The failure and its remedy, in words for the user.
    package var description: String {
        switch self {
        case .noBluetooth:
            """
            the kernel has no Bluetooth support: load the module with modprobe bluetooth; in a container, run the program outside, \
            because adapters belong to the initial network namespace
            """
        case .noSuchAdapter(let name, let known) where known.isEmpty:
            "there is no adapter \(name); see harald controllers for those that exist"
        case .noSuchAdapter(let name, let known):
            "there is no adapter \(name); available: \(known.joined(separator: ", "))"
        case .noAdapters:
            "this machine has no Bluetooth adapter; plug one in, or use another controller, such as tcp:HOST:PORT"
        case .noneUsable(let reasons):
            "no adapter is usable: \(reasons.map(\.description).joined(separator: "; "))"
        case .noPermission(let name):
            """
            claiming \(name) from the kernel requires CAP_NET_ADMIN: grant it to the program with setcap cap_net_admin+ep PROGRAM, \
            or share the adapter through a machine-wide service (harald install --machine)
            """
        case .busy(let name, .bluetoothd):
            """
            bluetoothd uses \(name): stop it with systemctl stop bluetooth, permanently with systemctl mask bluetooth, or power the \
            adapter off in bluetoothctl
            """
        case .busy(let name, .program):
            "another program has exclusive access to \(name); stop it, or share the adapter with harald service"
        case .busy(let name, _):
            "\(name) is busy: another program has claimed it, or its driver is still initializing it; try again"
        case .blocked(let name):
            "the radio of \(name) is blocked: run rfkill unblock bluetooth, or use the switch on the machine"
        case .failed(let name, let asked, let code):
            "\(asked) failed for \(name): \(String(cString: strerror(code))) (\(code)); see the kernel log (dmesg)"
        }
    }
}
