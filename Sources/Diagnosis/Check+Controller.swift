import HCITransports

// Service checks, and the controller's capabilities.

extension Check {
    static func service(_ facts: MachineFacts) -> [Finding] {
        switch facts.service {
        case .none: return []
        case .dead(let path):
            let what = "there is the socket of a service, and nobody listens"
            return [Finding(.problem, "service-dead", at: path, what, do: "harald service, or systemctl status harald")]
        case .closed(let path):
            let what = "this user may not speak with the service"
            return [
                Finding(
                    .problem,
                    "service-closed",
                    at: path,
                    what,
                    do: "sudo usermod -aG harald $USER, and log in again"
                )
            ]
        case .silent(let path, let reason):
            let remedy = "start the service anew, in the same release as this tool"
            return [Finding(.problem, "service-silent", at: path, "the service does not answer: \(reason)", do: remedy)]
        case .answers(let path, "poweredOn", _, let advice):
            return [Finding(.note, "service", at: path, "the service runs, and its controller works", do: advice)]
        case .answers(let path, "poweredOff", _, _):
            return [Finding(.problem, "service-off", at: path, "Bluetooth is switched off in the service")]
        case .answers(let path, let state, let failure, let advice):
            let what = "the service runs, and Bluetooth is \(state)" + (failure.map { ": \($0)" } ?? "")
            return [Finding(.problem, "service-\(state)", at: path, what, do: advice)]
        }
    }

    static func controller(_ facts: MachineFacts) -> [Finding] {
        guard let reason = facts.controllerError else { return [] }
        let remedy = "unplug it, or shut the machine down, wait some seconds, and ask again"
        return [Finding(.problem, "controller", at: "the controller", "it does not work: \(reason)", do: remedy)]
    }

    static func weaknesses(_ facts: MachineFacts) -> [Finding] {
        guard let controller = facts.controller else { return [] }
        return weaknesses(of: controller).map { code, what in
            let remedy = "use a controller of Bluetooth 5.0 or newer where that matters"
            return Finding(.weakness, code, at: controller.name, what, do: remedy)
        }
    }

    private static func weaknesses(of controller: ControllerFacts) -> [(code: String, what: String)] {
        // 8 is Bluetooth 4.2 in the assigned numbers.
        let isOld = controller.version < 8
        var found: [(String, String)] = []
        if isOld {
            found.append(("old", "it is older than Bluetooth 4.2: short packets, and the host resolves addresses"))
        }
        if !isOld, !controller.hasLongPackets {
            found.append(("short-packets", "it sends no packets above 27 octets: throughput is a fraction"))
        }
        if !isOld, controller.resolvingListSize == 0 {
            found.append(("no-resolving-list", "it does not resolve private addresses: the host is woken for each"))
        }
        if !controller.hasExtendedAdvertising {
            found.append(
                ("legacy-advertising", "it has no extended advertising: one advertisement of 31 octets, and 1M only")
            )
        }
        if controller.buffers < 3 {
            found.append(("few-buffers", "it holds \(controller.buffers) packets: several links share them by turns"))
        }
        if let maker = quirkyMakers[controller.company] { found.append(("maker", maker)) }
        return found
    }

    /// Warnings about manufacturers whose controllers misbehave, by assigned company number.
    private static let quirkyMakers: [Int: String] = [
        10: "it says that it is of CSR; many are imitations that answer short, and hang on commands of BR/EDR"
    ]
}
