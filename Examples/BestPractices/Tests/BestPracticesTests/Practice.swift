#if canImport(BluetoothTesting)
    import BestPractices
    import BluetoothTesting
    import Foundation
    import Testing

    /// A good practice with its two apps.
    struct Practice: Sendable, CustomTestStringConvertible {
        /// An app, and what surrounds it.
        enum Apps: Sendable {
            /// Central apps near a room thermometer.
            case thermometer(worse: RoomThermometer.Type, better: RoomThermometer.Type)
            /// A central app without a thermometer in range.
            case nothingInRange(worse: RoomThermometer.Type, better: RoomThermometer.Type)
            /// Peripheral apps that a phone looks for. The user shares the lamp after ten seconds.
            case lamp(worse: Lamp.Type, better: Lamp.Type)
        }

        let rule: AdviceRule
        /// The name of the pair, which is that of its file.
        let name: String
        let apps: Apps

        var testDescription: String { "\(rule.number) \(name)" }

        static let all: [Practice] = [
            Practice(
                .scanUntilFound,
                "ScanUntilFound",
                .thermometer(worse: ScanUntilFound.Worse.self, better: ScanUntilFound.Better.self)
            ),
            Practice(
                .duplicates,
                "ReportsOnce",
                .thermometer(worse: ReportsOnce.Worse.self, better: ReportsOnce.Better.self)
            ),
            Practice(
                .scanForServices,
                "ScanForServices",
                .thermometer(worse: ScanForServices.Worse.self, better: ScanForServices.Better.self)
            ),
            Practice(
                .shortScans,
                "ShortScans",
                .nothingInRange(worse: ShortScans.Worse.self, better: ShortScans.Better.self)
            ),
            Practice(
                .narrowDiscovery,
                "NarrowDiscovery",
                .thermometer(worse: NarrowDiscovery.Worse.self, better: NarrowDiscovery.Better.self)
            ),
            Practice(
                .subscribeRatherThanPoll,
                "Subscribe",
                .thermometer(worse: Subscribe.Worse.self, better: Subscribe.Better.self)
            ),
            Practice(
                .idleConnection,
                "DisconnectWhenDone",
                .thermometer(worse: DisconnectWhenDone.Worse.self, better: DisconnectWhenDone.Better.self)
            ),
            Practice(
                .retrieveKnown,
                "ReconnectToKnown",
                .thermometer(worse: ReconnectToKnown.Worse.self, better: ReconnectToKnown.Better.self)
            ),
            Practice(
                .stopAdvertising,
                "StopAdvertising",
                .lamp(worse: StopAdvertising.Worse.self, better: StopAdvertising.Better.self)
            ),
            Practice(
                .userDecides,
                "UserDecides",
                .lamp(worse: UserDecides.Worse.self, better: UserDecides.Better.self)
            ),
            Practice(
                .fittingAdvertisement,
                "FittingAdvertisement",
                .lamp(worse: FittingAdvertisement.Worse.self, better: FittingAdvertisement.Better.self)
            ),
            Practice(
                .notifyingValues,
                "NotifyingValues",
                .lamp(worse: NotifyingValues.Worse.self, better: NotifyingValues.Better.self)
            ),
            Practice(
                .protectedWrites,
                "ProtectedWrites",
                .lamp(worse: ProtectedWrites.Worse.self, better: ProtectedWrites.Better.self)
            ),
        ]

        init(_ rule: AdviceRule, _ name: String, _ apps: Apps) {
            (self.rule, self.name, self.apps) = (rule, name, apps)
        }
    }
#endif
