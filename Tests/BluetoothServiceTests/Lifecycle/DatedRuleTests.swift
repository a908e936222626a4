import BluetoothTypes
import Foundation
import GAP
import HCI
import L2CAP
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// The rules that differ between versions of iOS: each is there in its versions, and absent before and after them.
@Suite struct DatedRuleTests {
    private func pair(_ version: SystemVersion) throws -> ConnectedPair { try ConnectedPair { $0.version = version } }

    private func phone(_ version: SystemVersion, in world: ServiceWorld = ServiceWorld()) -> TestDevice {
        world.device("Phone") { $0.version = version }
    }

    // MARK: State and permission

    @Test(
        "behaviour 1.8: before iOS 13, known peripherals are retrieved in every state",
        arguments: DatedRule.retrievalWithoutPower.neighbours
    )
    func retrievalWithoutPower(version: SystemVersion) throws {
        let pair = try pair(version)
        pair.phone.system.controllers.setPower(false)
        pair.world.run(.seconds(1))
        let found = pair.central.ask(.peripherals(identifiers: [pair.peer]))
        #expect(!found.isEmpty == version.has(.retrievalWithoutPower))
    }

    private func managerWithoutPermission(_ version: SystemVersion, usage: String?) -> (InProcessConnection, [Event]) {
        let world = ServiceWorld()
        let phone = world.device("Phone") {
            $0.version = version
            $0.permission = .notDetermined
        }
        let app = phone.app("Heart", usage: usage)
        let manager = phone.manager(.central, of: app)
        world.run(.seconds(1))
        return (app, manager.take())
    }

    @Test("behaviour 1.18: from iOS 13 on, apps need permission", arguments: DatedRule.permission.neighbours)
    func permission(version: SystemVersion) {
        let (app, events) = managerWithoutPermission(version, usage: "To read your belt")
        #expect(events == (version.has(.permission) ? [] : [.stateChanged(.poweredOn)]))
        #expect(app.phase == .foreground)
    }

    @Test(
        "behaviour 1.19: from iOS 13 on, an app without the usage description crashes",
        arguments: DatedRule.usageDescription.neighbours
    )
    func usageDescription(version: SystemVersion) {
        let (app, _) = managerWithoutPermission(version, usage: nil)
        #expect(app.phase == (version.has(.usageDescription) ? .notRunning(.crashed) : .foreground))
    }

    @Test(
        "behaviour 1.25: from iOS 13 on, apps learn whether the hardware has extended scanning",
        arguments: DatedRule.extendedFeature.neighbours
    )
    func extendedFeature(version: SystemVersion) {
        let air = RadioWorld()
        let system = air.system("Phone") { $0.version = version }
        let info = system.apps.info(for: AppIdentity(name: "test"))
        #expect(info.hasExtendedScanAndConnect == version.has(.extendedFeature))
    }

    // MARK: Scanning

    private func discoveries(_ version: SystemVersion, of advertisement: AdvertisingConfiguration) -> [Advertisement] {
        let air = RadioWorld()
        let central = air.world.manager(.central, on: air.system("Phone") { $0.version = version })
        central.send(.startScan(ScanRequest(allowsDuplicates: true)))
        let broadcaster = air.bareDevice().advertiser.addSet()
        broadcaster.onFailed = { Issue.record("the broadcast failed: \($0)") }
        broadcaster.want(advertisement)
        air.world.run(.seconds(5))
        return central.take().compactMap { $0.discovery?.advertisement }
    }

    @Test(
        "behaviour 2.26: from iOS 13 on, extended advertisements are reported",
        arguments: DatedRule.extendedAdvertisements.neighbours
    )
    func extendedAdvertisements(version: SystemVersion) {
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: AdvertisingData([.localName(.init("New"))]))
        var packets = AdvertisingConfiguration.ExtendedPackets()
        packets.secondaryPHY = .le2M
        advertisement.packets = .extended(packets)
        #expect(!discoveries(version, of: advertisement).isEmpty == version.has(.extendedAdvertisements))
    }

    @Test(
        "behaviour 2.41: before iOS 16.4, manufacturer data of advertisement and scan response are one value",
        arguments: DatedRule.joinedManufacturerData.neighbours
    )
    func joinedManufacturerData(version: SystemVersion) {
        func data(_ company: UInt16, _ octet: UInt8) -> AdvertisingData {
            AdvertisingData([.manufacturerData(CompanyIdentifier(rawValue: company), [octet])])
        }
        let advertisement = AdvertisingConfiguration(.scannable, data: data(0x0059, 7), scanResponse: data(0x004D, 8))
        let found = Set(discoveries(version, of: advertisement).compactMap(\.manufacturerData))
        let joined: PacketBuffer = [0x59, 0, 7, 0x4D, 0, 8]
        #expect(found.contains(joined) == version.has(.joinedManufacturerData))
        #expect(found.contains([0x59, 0, 7]))
    }

    // MARK: Connections

    @Test(
        "behaviour 3.17: from iOS 17 on, a lost link is made again on request",
        arguments: DatedRule.automaticReconnection.neighbours
    )
    func automaticReconnection(version: SystemVersion) throws {
        let pair = try pair(version)
        var options = ConnectOptions()
        options.reconnectsAutomatically = true
        _ = try pair.central.ask(.connect(peer: pair.peer, options: options), "connected", \.connection)
        pair.strap.controller.loseLinks(.connectionTimeout)
        let end = try pair.central.expect("disconnected", \.disconnection)
        #expect(end.isReconnecting == version.has(.automaticReconnection))
        pair.world.run(.seconds(5))
        #expect(!pair.phone.system.links.all.isEmpty == version.has(.automaticReconnection))
    }

    @Test(
        "behaviour 3.19: from iOS 13 on, a connection can require ANCS",
        arguments: DatedRule.notificationSharing.neighbours
    )
    func notificationSharing(version: SystemVersion) throws {
        let pair = try pair(version)
        var options = ConnectOptions()
        options.requiresNotifications = true
        _ = try pair.central.ask(.connect(peer: pair.peer, options: options), "connected", \.connection)
        pair.world.run(.seconds(5))
        let decisions = pair.central.take().count { event in
            if case .central(.peer(_, .notificationsAuthorized)) = event { true } else { false }
        }
        #expect(decisions == (version.has(.notificationSharing) ? 1 : 0))
    }

    @Test(
        "behaviour 3.22: from iOS 13 on, apps can follow the connections of others",
        arguments: DatedRule.connectionEvents.neighbours
    )
    func connectionEvents(version: SystemVersion) throws {
        let pair = try pair(version)
        let listener = pair.phone.manager(.central)
        listener.send(.watchConnections(ConnectionWatch(peers: [pair.peer])))
        pair.world.run(.seconds(1))
        try pair.central.connect(pair.peer)
        pair.world.run(.seconds(1))
        let changes = listener.take().count { event in
            if case .central(.connectionChanged) = event { true } else { false }
        }
        #expect(changes == (version.has(.connectionEvents) ? 1 : 0))
    }

    /// Whether a link accepts parameters: intervals in units of 1.25 ms, and the time-out in units of 10 ms.
    private func accepts(_ version: SystemVersion, _ minimum: UInt16, _ maximum: UInt16, _ timeout: UInt16) throws
        -> Bool
    {
        let pair = try pair(version).linked()
        let link = try #require(pair.phone.system.links.all.first)
        return link.link.parameterPolicy(
            ConnectionParameters(intervalMinimum: minimum, intervalMaximum: maximum, latency: 0, timeout: timeout)
        )
    }

    @Test(
        "behaviour 3.28: before iOS 11, the shortest interval is 20 ms, and 15 ms are refused",
        arguments: DatedRule.parametersOfFirstEdition.neighbours
    )
    func parametersOfFirstEdition(version: SystemVersion) throws {
        #expect(try accepts(version, 16, 32, 100) == version.has(.parametersOfFirstEdition))
        #expect(try accepts(version, 12, 24, 400) == !version.has(.parametersOfFirstEdition))
    }

    @Test(
        "behaviour 3.28: from iOS 11 to 17, a multiple of 15 ms is accepted with a time-out of 2 to 6 s",
        arguments: DatedRule.parametersOfSecondEdition.neighbours
    )
    func parametersOfSecondEdition(version: SystemVersion) throws {
        #expect(try accepts(version, 12, 24, 400) == version.has(.parametersOfSecondEdition))
    }

    @Test(
        "behaviour 3.27: from iOS 18 on, the supervision time-out is 6 to 18 s",
        arguments: DatedRule.parametersOfCurrentEdition.neighbours
    )
    func parametersOfCurrentEdition(version: SystemVersion) throws {
        #expect(try accepts(version, 24, 40, 601) == version.has(.parametersOfCurrentEdition))
        #expect(try accepts(version, 24, 40, 400) == !version.has(.parametersOfCurrentEdition))
    }

    @Test(
        "behaviour 3.31: iOS 16.0 does not accept 15 ms alone, which 15 and 16.1 do",
        arguments: DatedRule.noShortestIntervalAlone.neighbours
    )
    func noShortestIntervalAlone(version: SystemVersion) throws {
        #expect(try accepts(version, 12, 12, 400) == !version.has(.noShortestIntervalAlone))
        #expect(try accepts(version, 12, 24, 400))
    }

    // MARK: Attributes

    @Test(
        "behaviour 4.15: iOS 10 misses the second Service Changed of a link",
        arguments: DatedRule.missedServiceChange.neighbours
    )
    func missedServiceChange(version: SystemVersion) throws {
        let pair = try pair(version)
        _ = try pair.connected()
        pair.world.run(.seconds(1))
        pair.central.take()
        pair.sensor.send(.removeService(Example.serviceID))
        pair.world.run(.seconds(1))
        _ = try pair.sensor.ask(.addService(Example.heartRate), "serviceAdded", \.serviceAdded)
        pair.world.run(.seconds(1))
        let changes = pair.central.take().count { event in
            if case .central(.peer(_, .servicesModified)) = event { true } else { false }
        }
        #expect(changes == (version.has(.missedServiceChange) ? 1 : 2))
        // What it was not told of is there all the same.
        #expect(try pair.central.explore(pair.peer).count == 4)
    }

    @Test(
        "behaviour 5.5: iOS 10 reports writes without response",
        arguments: DatedRule.reportedWriteWithoutResponse.neighbours
    )
    func reportedWriteWithoutResponse(version: SystemVersion) throws {
        let pair = try pair(version)
        let point = try #require(try pair.connected()[Example.controlPoint])
        pair.central.send(.writeWithoutResponse(peer: pair.peer, characteristic: point, value: [1]))
        pair.world.run(.seconds(1))
        let results = pair.central.take().compactMap(\.writeResult)
        #expect(results == (version.has(.reportedWriteWithoutResponse) ? [nil] : []))
    }

    // MARK: Channels

    @Test("behaviour 8.1: from iOS 11 on, channels can be published", arguments: DatedRule.publishedChannels.neighbours)
    func publishedChannels(version: SystemVersion) throws {
        let world = ServiceWorld()
        let manager = phone(version, in: world).manager(.peripheral)
        let error = try manager.ask(.peripheral(.publishChannel(needsEncryption: false)), "published") {
            event -> ServiceError?? in
            if case .peripheral(.channelPublished(_, let error, _)) = event { .some(error) } else { nil }
        }
        #expect(error?.code == (version.has(.publishedChannels) ? nil : .core(.operationNotSupported)))
    }

    @Test("behaviour 8.5: from iOS 11 on, channels can be opened", arguments: DatedRule.openedChannels.neighbours)
    func openedChannels(version: SystemVersion) throws {
        let pair = try pair(version).linked()
        let open = Request.central(.peer(pair.peer, .link(.openChannel(psm: 0x80))))
        let result = try pair.central.ask(open, "opened") { event -> ServiceError?? in
            if case .central(.peer(_, .channelOpened(_, let result))) = event { .some(result.error) } else { nil }
        }
        // No channel has been published there.
        #expect((result?.code == .core(.operationNotSupported)) == !version.has(.openedChannels))
    }

    // MARK: Background

    @Test(
        "behaviour 7.25: before iOS 14, advertising can start in the background",
        arguments: DatedRule.advertisingStartedInBackground.neighbours
    )
    func advertisingStartedInBackground(version: SystemVersion) throws {
        let apps = LivingApps(sensor: .peripheral) {
            $0.version = version
            $0.startsAdvertisingInBackground = false
        }
        apps.sensorApp.happened(.left)
        let request = Request.startAdvertising(AdvertisingRequest(localName: "Strap", services: [Example.service]))
        let error = try apps.sensor.ask(request, "advertisingStarted", \.advertisingStarted)
        #expect((error == nil) == version.has(.advertisingStartedInBackground))
    }

    @Test(
        "behaviour 9.17: from iOS 26 on, a Live Activity keeps the privileges of the foreground",
        arguments: DatedRule.liveActivityPrivileges.neighbours
    )
    func liveActivityPrivileges(version: SystemVersion) {
        let apps = LivingApps(central: .central) { $0.version = version }
        apps.central.send(.startScan(ScanRequest(services: nil)))
        apps.centralApp.happened(.liveActivity(true))
        apps.centralApp.happened(.left)
        apps.world.run(.seconds(1))
        #expect(apps.phone.controller.isScanning == version.has(.liveActivityPrivileges))
    }

    @Test("behaviour 9.18: there are Live Activities from iOS 16.1 on", arguments: DatedRule.liveActivities.neighbours)
    func liveActivities(version: SystemVersion) {
        let apps = LivingApps(central: .central) { $0.version = version }
        apps.centralApp.happened(.liveActivity(true))
        #expect(apps.centralApp.hasActivity == version.has(.liveActivities))
    }

    @Test(
        "behaviour 9.20: from iOS 26.2 on, a transport extension uses Bluetooth",
        arguments: DatedRule.transportExtensions.neighbours
    )
    func transportExtensions(version: SystemVersion) {
        let world = ServiceWorld()
        let phone = phone(version, in: world)
        let manager = phone.manager(.central, of: phone.transportExtension())
        world.run(.seconds(1))
        #expect(manager.take() == [.stateChanged(version.has(.transportExtensions) ? .poweredOn : .unsupported)])
    }

    // MARK: Restoration

    /// Whether a manager is preserved after its process crashed, and then after `event`.
    private func isPreserved(
        _ version: SystemVersion,
        _ role: ManagerRole = .central,
        after end: AppEnd = .crashed,
        setUp: Bool = false,
        isExtension: Bool = false,
        and event: (TestDevice) -> Void = { _ in }
    ) -> Bool {
        let world = ServiceWorld()
        let phone = phone(version, in: world)
        var declaration = AppDeclaration(backgroundModes: [.central, .peripheral])
        declaration.usesAccessorySetup = setUp
        let app =
            isExtension
            ? phone.transportExtension()
            : phone.system.openApp(AppIdentity(name: "app"), declaring: declaration)
        let manager = phone.manager(role, of: app, restoring: "one")
        app.happened(.ended(end))
        event(phone)
        world.run(.seconds(1))
        withExtendedLifetime(manager) {}
        return !phone.system.apps.preservation.apps.isEmpty
    }

    @Test(
        "behaviour 10.15: from iOS 11 on, apps come back after the switch in Control Centre",
        arguments: DatedRule.restorationAfterControlCentre.neighbours
    )
    func restorationAfterControlCentre(version: SystemVersion) {
        let isKept = isPreserved(version) { $0.system.controllers.setPower(false, by: .controlCentre) }
        #expect(isKept == version.has(.restorationAfterControlCentre))
        #expect(!isPreserved(version) { $0.system.controllers.setPower(false) })
    }

    @Test(
        "behaviour 10.17: from iOS 26 on, apps with AccessorySetupKit come back after a force quit",
        arguments: DatedRule.restorationAfterForceQuit.neighbours
    )
    func restorationAfterForceQuit(version: SystemVersion) {
        let isKept = isPreserved(version, after: .forceQuit, setUp: true)
        #expect(isKept == version.has(.restorationAfterForceQuit))
        #expect(!isPreserved(version, after: .forceQuit))
    }

    @Test(
        "behaviour 10.18: from iOS 11 on, apps come back after a restart",
        arguments: DatedRule.restorationAfterRestart.neighbours
    )
    func restorationAfterRestart(version: SystemVersion) {
        #expect(isPreserved(version, after: .deviceRestarted) == version.has(.restorationAfterRestart))
    }

    @Test(
        "behaviour 10.23: from iOS 11 on, airplane mode can leave Bluetooth alone",
        arguments: DatedRule.airplaneModeWithBluetooth.neighbours
    )
    func airplaneModeWithBluetooth(version: SystemVersion) {
        let world = ServiceWorld()
        let controllers = phone(version, in: world).system.controllers
        controllers.setAirplaneMode(true)
        controllers.setPower(true)
        controllers.setAirplaneMode(false)
        controllers.setAirplaneMode(true)
        world.run(.seconds(1))
        #expect((controllers.state == .poweredOn) == version.has(.airplaneModeWithBluetooth))
    }

    @Test(
        "behaviour 10.29: from iOS 26.5 on, transport extensions are restored",
        arguments: DatedRule.transportExtensionRestoration.neighbours
    )
    func transportExtensionRestoration(version: SystemVersion) {
        #expect(isPreserved(version, isExtension: true) == version.has(.transportExtensionRestoration))
    }

    @Test(
        "behaviour 10.30: iOS 11.1 does not restore apps as peripherals",
        arguments: DatedRule.forgottenPeripheralApps.neighbours
    )
    func forgottenPeripheralApps(version: SystemVersion) {
        #expect(isPreserved(version, .peripheral) == !version.has(.forgottenPeripheralApps))
        #expect(isPreserved(version, .central))
    }

    // MARK: Accessories

    @Test(
        "behaviour 16.1: from iOS 18 on, there is AccessorySetupKit",
        arguments: DatedRule.accessorySetup.neighbours
    )
    func accessorySetup(version: SystemVersion) {
        let world = ServiceWorld()
        let session = phone(version, in: world).manager(.accessorySetup)
        world.run(.seconds(1))
        #expect(session.take().contains(.setup(.activated([]))) == version.has(.accessorySetup))
    }
}

extension TestDevice {
    /// A process of an extension that relays data of the app "com.example.Heart" to an accessory.
    func transportExtension() -> InProcessConnection {
        let kind = ProcessKind.appExtension(point: ProcessKind.transportExtensionPoint)
        return system.openApp(
            AppIdentity(name: "com.example.Heart.transport"),
            declaring: AppDeclaration(backgroundModes: .central, kind: kind)
        )
    }
}
