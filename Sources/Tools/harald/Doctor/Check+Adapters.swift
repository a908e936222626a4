import HCITransports

// Kernel and adapter checks.

extension Check {
    private static let machine = "this machine"
    private static let withoutHardware = "without hardware, `harald demo` and `harald controllers --listen 9100` work"

    static func kernel(_ facts: MachineFacts) -> [Finding] {
        switch facts.adapters {
        case .found: return []
        // A service elsewhere, or one with a controller behind a socket, does not need Bluetooth in this kernel.
        case .noBluetooth where facts.service.works:
            return [
                Finding(
                    .note,
                    "no-kernel-bluetooth",
                    at: machine,
                    "the kernel has no Bluetooth support; the service does not need it"
                )
            ]
        case .noBluetooth where facts.isContainer:
            let what = "adapters belong to the initial network namespace and are not visible in this container"
            return [
                Finding(
                    .problem,
                    "namespace",
                    at: machine,
                    what,
                    do: "start the container with --network host, or run the program outside it; \(withoutHardware)"
                )
            ]
        case .noBluetooth:
            let what = "the kernel has no Bluetooth support, or none in this network namespace"
            let remedy =
                "sudo modprobe bluetooth; if the program runs in a separate network namespace, run it outside; "
                + withoutHardware
            return [Finding(.problem, "no-kernel-bluetooth", at: machine, what, do: remedy)]
        case .failed(let reason): return [Finding(.problem, "adapters", at: machine, reason)]
        }
    }

    static func adapters(_ facts: MachineFacts) -> [Finding] {
        guard case .found(let adapters) = facts.adapters else { return [] }
        // A controller without a kernel adapter has a finding of its own.
        guard adapters.isEmpty, !facts.usb.contains(where: { $0.driver != "btusb" }) else { return [] }
        let what = "no Bluetooth adapter found"
        let remedy =
            "plug one in, or use another controller: --controller tcp:HOST:PORT or serial:PATH; "
            + withoutHardware
        return [Finding(facts.service.works ? .note : .problem, "no-adapter", at: machine, what, do: remedy)]
    }

    static func switches(_ facts: MachineFacts) -> [Finding] {
        facts.switches.flatMap { radio -> [Finding] in
            let hard = Finding(
                .problem,
                "rfkill-hard",
                at: radio.name,
                "the radio is blocked by a hardware switch or key",
                do: "use the switch, or the setting in the firmware setup; rfkill list shows the state"
            )
            let soft = Finding(
                .problem,
                "rfkill-soft",
                at: radio.name,
                "the radio is blocked by software",
                do: "rfkill unblock bluetooth"
            )
            return (radio.isHard ? [hard] : []) + (radio.isSoft ? [soft] : [])
        }
    }

    static func holders(_ facts: MachineFacts) -> [Finding] {
        guard case .found(let adapters) = facts.adapters else { return [] }
        return adapters.compactMap { adapter in
            switch adapter.holder {
            case .bluetoothd:
                Finding(
                    .problem,
                    "bluetoothd",
                    at: adapter.name,
                    "bluetoothd uses it, and Harald does not take an adapter that is in use",
                    do: "sudo systemctl disable --now bluetooth, or in bluetoothctl: power off"
                )
            case .program where !facts.service.works:
                Finding(
                    .problem,
                    "held",
                    at: adapter.name,
                    "another program has exclusive access to it",
                    do: "stop that program, or share the adapter: harald service"
                )
            case .program, .kernel, .nobody: nil
            }
        }
    }

    /// bluetoothd may claim an adapter between two users of it.
    static func daemon(_ facts: MachineFacts) -> [Finding] {
        guard facts.bluetoothdRuns, case .found(let adapters) = facts.adapters, !adapters.isEmpty,
            !adapters.contains(where: { $0.holder == .bluetoothd })
        else { return [] }
        let what = "bluetoothd is running and may take an adapter that becomes free"
        return [Finding(.note, "bluetoothd-runs", at: machine, what, do: "sudo systemctl disable --now bluetooth")]
    }

    static func rights(_ facts: MachineFacts) -> [Finding] {
        guard !facts.mayTakeAdapters, !facts.service.works, case .found(let adapters) = facts.adapters,
            !adapters.isEmpty
        else { return [] }
        return [
            Finding(
                .problem,
                "rights",
                at: adapters.map(\.name).joined(separator: ", "),
                "this user may not claim an adapter from the kernel (CAP_NET_ADMIN), and no service shares one",
                do: "sudo harald install --machine, or for one program: sudo setcap cap_net_admin+ep PROGRAM"
            )
        ]
    }

    static func ports(_ facts: MachineFacts) -> [Finding] {
        facts.ports.filter { !$0.isOpen }.map { port in
            Finding(
                .note,
                "port-rights",
                at: port.path,
                "this user may not open this serial port, to which a controller may be attached",
                do: "sudo usermod -aG dialout $USER, then log in again"
            )
        }
    }
}
