import HCITransports

// Service checks, and the controller's capabilities.

extension Check {
    static func service(_ facts: MachineFacts) -> [Finding] {
        switch facts.service {
        case .none: return []
        case .dead(let path):
            let what = "the service's socket exists, but no process listens on it"
            let isOfMachine = path == MachineFacts.socketOfMachine
            return [
                Finding(
                    .problem,
                    "service-dead",
                    at: path,
                    what,
                    do: "start it with harald service, or see systemctl \(isOfMachine ? "" : "--user ")status harald"
                )
            ]
        case .closed(let path):
            let what = "this user may not connect to the service"
            return [
                Finding(
                    .problem,
                    "service-closed",
                    at: path,
                    what,
                    do: "sudo usermod -aG harald $USER, then log in again"
                )
            ]
        case .silent(let path, let reason):
            let remedy = "restart the service, from the same release as this tool"
            return [Finding(.problem, "service-silent", at: path, "the service does not answer: \(reason)", do: remedy)]
        case .answers(let path, "poweredOn", _, let advice):
            return [Finding(.note, "service", at: path, "the service is running, and its controller works", do: advice)]
        case .answers(let path, "poweredOff", _, _):
            return [Finding(.problem, "service-off", at: path, "Bluetooth is switched off in the service")]
        case .answers(let path, let state, let failure, let advice):
            let what = "the service is running, and Bluetooth is \(state)" + (failure.map { ": \($0)" } ?? "")
            return [Finding(.problem, "service-\(state)", at: path, what, do: advice)]
        }
    }

    static func controller(_ facts: MachineFacts) -> [Finding] {
        guard let reason = facts.controllerError else {
            guard facts.askedController != nil, let controller = facts.controller else { return [] }
            return [Finding(.note, "controller-works", at: controller.name, "the controller works")]
        }
        let remedy =
            switch facts.askedController {
            case .tcp: "start it, or check the host and port"
            case .unix: "start it, or check the path and its permissions"
            case .capture: "check the file"
            case .serial: "check the path and the speed, and that the controller is switched on"
            default: "unplug it, or shut down the machine; wait a few seconds and try again"
            }
        return [Finding(.problem, "controller", at: "the controller", "it does not work: \(reason)", do: remedy)]
    }

    static func weaknesses(_ facts: MachineFacts) -> [Finding] {
        guard let controller = facts.controller else { return [] }
        return weaknesses(of: controller).map { code, what in
            let remedy = "use a Bluetooth 5.0 or later controller where this matters"
            return Finding(.weakness, code, at: controller.name, what, do: remedy)
        }
    }

    private static func weaknesses(of controller: ControllerFacts) -> [(code: String, what: String)] {
        // 8 is Bluetooth 4.2 in the assigned numbers.
        let isOld = controller.version < 8
        let all: [(isFound: Bool, code: String, what: String)] = [
            (
                isOld, "old",
                "it predates Bluetooth 4.2: packets are short, and the host has to resolve private addresses"
            ),
            (
                !isOld && !controller.hasLongPackets, "short-packets",
                "it sends at most 27 octets in a packet, which limits throughput"
            ),
            (
                !isOld && controller.resolvingListSize == 0, "no-resolving-list",
                "it cannot resolve private addresses, so the host wakes up for each one"
            ),
            (
                !controller.hasExtendedAdvertising, "legacy-advertising",
                "it lacks extended advertising: a single advertisement of 31 octets, on 1M only"
            ),
            (
                controller.buffers < 3, "few-buffers",
                "it buffers only \(controller.buffers) packets, which several links have to share"
            ),
        ]
        let maker = quirkyMakers[controller.company].map { [("maker", $0)] } ?? []
        return all.filter(\.isFound).map { ($0.code, $0.what) } + maker
    }

    /// Warnings about manufacturers whose controllers misbehave, by assigned company number.
    private static let quirkyMakers: [Int: String] = [
        10: "it identifies as a CSR chip; many are counterfeits that truncate responses and hang on BR/EDR commands"
    ]
}
