/// A rule of Apple's system that some versions of iOS have and others lack.
///
/// The rows are the only place that knows versions, and `Documentation/Behaviours.md` shows them. Each has a test that
/// takes its versions from here.
enum DatedRule: CaseIterable, Sendable {
    case retrievalWithoutPower
    case temporarySwitchOff
    case permission
    case usageDescription
    case extendedFeature
    case extendedAdvertisements
    case joinedManufacturerData
    case automaticReconnection
    case notificationSharing
    case connectionEvents
    case parametersOfCurrentEdition
    case parametersOfFirstEdition
    case parametersOfSecondEdition
    case noShortestIntervalAlone
    case missedServiceChange
    case reportedWriteWithoutResponse
    case lostBondsRefused
    case encryptionTimeoutCode
    case pairedDeviceLimitCode
    case advertisingStartedInBackground
    case publishedChannels
    case openedChannels
    case liveActivityPrivileges
    case liveActivities
    case transportExtensions
    case restorationAfterControlCentre
    case restorationAfterForceQuit
    case restorationAfterRestart
    case airplaneModeWithBluetooth
    case transportExtensionRestoration
    case forgottenPeripheralApps
    case accessorySetup
    case channelSounding

    /// A row of the table.
    struct Row: Sendable {
        /// The number in `Documentation/Behaviours.md`.
        let number: String
        let versions: ClosedRange<SystemVersion>
        /// What the versions do, and others do not.
        let text: String
        /// The sources of the versions, as in `Documentation/Behaviours.md`.
        let source: String

        fileprivate init(
            _ number: String,
            from first: SystemVersion = .oldest,
            to last: SystemVersion = .last(of: SystemVersion.newest.major),
            _ text: String,
            _ source: String
        ) {
            (self.number, versions, self.text, self.source) = (number, first...last, text, source)
        }
    }
}

extension DatedRule {
    /// The row of the rule.
    var row: Row {
        switch self {
        case .retrievalWithoutPower:
            Row(
                "1.8",
                to: .last(of: 12),
                "known peripherals are retrieved in every state",
                "IOS-DFU-Library#327, mcumgr-ios#25"
            )
        case .temporarySwitchOff:
            Row(
                "1.17",
                from: 11,
                "a switch-off in Control Centre lasts until the next restart, or 5:00",
                "HT208086"
            )
        case .permission: Row("1.18", from: 13, "apps need permission", "W19")
        case .usageDescription: Row("1.19", from: 13, "an app without the usage description crashes", "W19")
        case .extendedFeature:
            Row("1.25", from: 13, "`supports(.extendedScanAndConnect)` is true if the hardware can", "DOC")
        case .extendedAdvertisements: Row("2.26", from: 13, "extended advertisements are reported", "W19")
        case .joinedManufacturerData:
            Row(
                "2.41",
                to: SystemVersion(16, 3),
                "manufacturer data of advertisement and scan response are one value",
                "IOS-nRF-Connect#128, flutter_blue_plus#126"
            )
        case .automaticReconnection: Row("3.17", from: 17, "a lost link is made again on request", "DOC")
        case .notificationSharing: Row("3.19", from: 13, "a connection can require ANCS", "DOC")
        case .connectionEvents: Row("3.22", from: 13, "apps can follow the connections of others", "DOC")
        case .parametersOfCurrentEdition:
            Row("3.27", from: 18, "the current edition of the parameter rules", "F-773555, zmk#2661; 18 is inferred")
        case .parametersOfFirstEdition:
            Row("3.28", to: .last(of: 10), "the first edition of the parameter rules", "QA1931, BTDEV 2013-12")
        case .parametersOfSecondEdition:
            Row("3.28", from: 11, to: .last(of: 17), "the second edition of the parameter rules", "ADG R11, W17")
        case .noShortestIntervalAlone:
            Row("3.31", from: 16, to: 16, "15 ms alone is not accepted", "Nordic DevZone 92003 and 94553, SO 73663460")
        case .missedServiceChange:
            Row("4.15", to: .last(of: 10), "a second Service Changed on a link is not reported", "radar 28819540 alone")
        case .reportedWriteWithoutResponse:
            Row("5.5", to: .last(of: 10), "a write without response has a `didWriteValue`", "radars 28361753, 28426725")
        case .lostBondsRefused:
            Row("6.12", from: SystemVersion(13, 4), "a peer without its keys is refused", "DOC, Nordic DevZone 60455")
        case .encryptionTimeoutCode: Row("6.13", from: SystemVersion(13, 4), "`CBError` 15 exists", "DOC")
        case .pairedDeviceLimitCode: Row("6.13", from: 14, "`CBError` 16 exists", "DOC")
        case .advertisingStartedInBackground:
            Row("7.25", to: .last(of: 13), "advertising can start in the background", "YOUNG alone")
        case .publishedChannels: Row("8.1", from: 11, "channels can be published", "W17, DOC")
        case .openedChannels: Row("8.5", from: 11, "channels can be opened", "W17, DOC")
        case .liveActivityPrivileges:
            Row("9.17", from: 26, "a Live Activity keeps the privileges of the foreground", "DOC")
        case .liveActivities: Row("9.18", from: SystemVersion(16, 1), "Live Activities exist", "ActivityKit")
        case .transportExtensions:
            Row("9.20", from: SystemVersion(26, 2), "transport extensions exist", "AccessoryTransportExtension")
        case .restorationAfterControlCentre:
            Row("10.15", from: 11, "apps come back after the switch in Control Centre", "TN3115, F-806013")
        case .restorationAfterForceQuit:
            Row("10.17", from: 26, "apps with AccessorySetupKit come back after a force quit", "TN3115, F-806013")
        case .restorationAfterRestart: Row("10.18", from: 11, "apps come back after a restart", "QA1962")
        case .airplaneModeWithBluetooth: Row("10.23", from: 11, "airplane mode can leave Bluetooth alone", "QA1962")
        case .transportExtensionRestoration:
            Row("10.29", from: SystemVersion(26, 5), "transport extensions are restored", "AccessoryTransportExtension")
        case .forgottenPeripheralApps:
            Row(
                "10.30",
                from: SystemVersion(11, 1),
                to: SystemVersion(11, 1),
                "apps are not restored as peripherals",
                "BLERestorationPlayground alone"
            )
        case .accessorySetup: Row("16.1", from: 18, "there is AccessorySetupKit", "AS")
        case .channelSounding: Row("17.1", from: 27, "distances can be measured", "HDR of Xcode 27 beta")
        }
    }
}
