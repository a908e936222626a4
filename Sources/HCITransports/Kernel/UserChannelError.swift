#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

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
    /// What happened and what to do, for the user.
    package var description: String {
        switch self {
        case .noBluetooth:
            """
            this kernel has no Bluetooth: load its module with modprobe bluetooth, or, in a container, start the program outside: \
            adapters belong to the first network namespace
            """
        case .noSuchAdapter(let name, let known) where known.isEmpty:
            "there is no adapter \(name); harald controllers lists what is there"
        case .noSuchAdapter(let name, let known):
            "there is no adapter \(name); there is \(known.joined(separator: ", "))"
        case .noAdapters:
            "this machine has no Bluetooth adapter; plug one in, or name a controller elsewhere, tcp:HOST:PORT"
        case .noneUsable(let reasons):
            "no adapter can be used: \(reasons.map(\.description).joined(separator: "; "))"
        case .noPermission(let name):
            """
            this process may not take \(name) from the kernel, for which it needs CAP_NET_ADMIN: give it to the program with \
            setcap cap_net_admin+ep PROGRAM, or share the adapter by the service of the machine (harald install --machine)
            """
        case .busy(let name, .bluetoothd):
            """
            bluetoothd has \(name): end it with systemctl stop bluetooth, and systemctl mask bluetooth for good, or power the \
            adapter off in bluetoothctl
            """
        case .busy(let name, .program):
            "another program has \(name) to itself; end it, or share the adapter by harald service"
        case .busy(let name, _):
            "\(name) is busy: another program has taken it, or its driver does not finish with it; try again"
        case .blocked(let name):
            "radios are switched off, \(name) too: rfkill unblock bluetooth, or the switch on the machine"
        case .failed(let name, let asked, let code):
            "\(asked) fails for \(name): \(String(cString: strerror(code))) (\(code)); the kernel's log may say more (dmesg)"
        }
    }
}
