import ATT
import BluetoothTypes
import Foundation
import GATT
import SampleMessages
import ServiceMessages
import TestBasics
import Testing

@testable import Administration
@testable import BluetoothService

/// Quotas on what apps, users and links share, next to a greedy client (AB-G05).
@Suite struct SharedLimitTests {
    private static let quotas = [
        ServiceLimits.sharedManagers, ServiceLimits.scans, ServiceLimits.peers, ServiceLimits.attributes,
        ServiceLimits.publishedChannels, ServiceLimits.sharedChannels, ServiceLimits.advertisers,
        ServiceLimits.linkRequests, ServiceLimits.permissionQuestions, ServiceLimits.monitors, ServiceLimits.clients,
        ServiceLimits.recordedApps, ServiceLimits.prompters, ServiceLimits.packetStreams,
    ]

    @Test("AB-G05: no user takes all places of tools, root neither, and the reason names the limit that was reached")
    func placesOfTools() throws {
        for quota in [
            ServiceLimits.prompters, ServiceLimits.packetStreams, ServiceLimits.monitors, ServiceLimits.clients,
        ] {
            for mayExceedShare in [false, true] {
                var users: [UInt32] = []
                for user in [0, 1_000, 1_001] as [UInt32] {
                    while quota.refusal("places", forUser: user, beside: users, mayExceedShare: mayExceedShare) == nil {
                        users.append(user)
                    }
                    let own = users.count { $0 == user }
                    let refusal = quota.refusal("places", forUser: user, beside: users, mayExceedShare: mayExceedShare)
                    let reason = try #require(refusal?.reason)
                    let isOfUser = !mayExceedShare && own == quota.user
                    #expect(own > 0)
                    #expect(reason.contains("user \(user) may have \(quota.user) places") == isOfUser)
                    #expect(reason.contains("\(users.count) of the \(quota.total) places") == !isOfUser)
                    #expect(users.count < quota.total)
                }
            }
        }
    }

    @Test("AB-G05: every client gets its share, and none takes the last place of another", arguments: quotas)
    func sharesOfAQuota(quota: Quota) {
        var held: [(app: AppIdentity, count: Int)] = []
        func taken(_ user: UInt32) -> Int { held.reduce(0) { $0 + ($1.app.owner == user ? $1.count : 0) } }
        for user in 0..<4 as Range<UInt32> {
            for app in 0..<100 {
                let identity = AppIdentity(name: "app\(app)", owner: user)
                let room = quota.room(for: identity, beside: held)
                #expect(room.count <= quota.app)
                held.append((identity, room.count))
                let next = quota.room(for: identity, beside: held)
                #expect(next.count == 0)
                // The user's next app gets nothing, or the app has reached its own limit.
                if next.scope != .app { break }
            }
            #expect(taken(user) <= quota.user)
            #expect(taken(user) > 0)
            if user == 0 { #expect(taken(0) == min(quota.user, quota.total / 2)) }
            let newcomer = AppIdentity(name: "new", owner: 99)
            #expect(quota.room(for: newcomer, beside: held).count > 0)
        }
        #expect(held.reduce(0) { $0 + $1.count } < quota.total)
    }

    @Test("AB-G05: a refusal names the limit and its value")
    func theReasonOfARefusal() {
        let quota = Quota(app: 2, user: 3, total: 8)
        let (one, two) = (AppIdentity(name: "one", owner: 7), AppIdentity(name: "two", owner: 7))
        func reason(_ app: AppIdentity, _ held: [(app: AppIdentity, count: Int)], _ count: Int = 1) -> String? {
            quota.refusal(of: count, "scans", for: app, beside: held)?.reason
        }
        #expect(reason(one, [(one, 1)]) == nil)
        #expect(reason(one, [(one, 2)])?.contains("may have 2 scans") == true)
        #expect(reason(one, [(one, 1)], 2)?.contains("may have 2 scans") == true)
        #expect(reason(two, [(one, 2), (two, 1)])?.contains("user 7 may have 3 scans") == true)
        let others = (0..<3).map { (app: AppIdentity(name: "a", owner: $0), count: 2) }
        #expect(reason(one, others + [(two, 1)])?.contains("8 scans shared by all users") == true)
        #expect(reason(one, others) == nil)
    }

    @Test("AB-G05: an app that floods a link with requests leaves capacity for another app")
    func requestsOnOneLink() throws {
        let pair = try ConnectedPair()
        let note = try #require(try pair.connected()[Example.note])
        let connection = pair.phone.system.openApp(AppIdentity(name: "modest"))
        let modest = pair.phone.manager(.central, of: connection)
        try modest.connect(pair.peer)
        _ = try modest.explore(pair.peer)
        pair.central.take()
        modest.take()
        for _ in 0..<2_000 {
            pair.central.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        }
        modest.send(.readCharacteristic(peer: pair.peer, characteristic: note))
        pair.world.run(.milliseconds(1))
        let refused = pair.central.take().compactMap(\.value)
        #expect(refused.count == 2_000 - 1 - ServiceLimits.linkRequests.app)
        #expect(refused.allSatisfy { $0.error?.code == .core(.outOfSpace) })
        // The app reads the same text, whichever queue of the link is full.
        let texts = Set(refused.map { $0.error?.reason })
        #expect(texts == [ServiceError(GATTError.queueFull).reason])
        #expect(texts == [ServiceError(ATTBearerError.queueFull).reason])
        #expect(modest.take().compactMap(\.value).isEmpty)
    }

    @Test("AB-G05: an app that reads the signal strength continuously does not fill the command queue")
    func signalStrength() throws {
        let pair = try ConnectedPair()
        _ = try pair.connected()
        pair.central.take()
        for _ in 0..<2_000 { pair.central.send(.readRSSI(peer: pair.peer)) }
        pair.world.run(.seconds(1))
        let answers = pair.central.take().compactMap { event -> Result<Int, ServiceError>? in
            if case .central(.peer(_, .rssiRead(let result))) = event { result } else { nil }
        }
        let failures = answers.count { if case .failure = $0 { true } else { false } }
        #expect(answers.count == 2_000)
        #expect(failures == 2_000 - ServiceLimits.linkRequests.total)
        // One command serves them all; the next request sends another.
        pair.central.send(.readRSSI(peer: pair.peer))
        pair.world.run(.seconds(1))
        #expect(pair.central.take().count == 1)
    }

    @Test("AB-G05: a manager that changes a subscription continuously does not block another's change")
    func subscriptionChanges() {
        var arbiter = SubscriptionArbiter<Int>()
        var refused = 0
        for number in 0..<100 {
            let actions = arbiter.handle(.request(1, enabled: number.isMultiple(of: 2)))
            refused += actions.count { if case .report(1, _, .some, _) = $0 { true } else { false } }
        }
        #expect(refused == 100 - 1 - ServiceLimits.subscriptionChangesOfManager)
        let actions = arbiter.handle(.request(2, enabled: true))
        #expect(actions.isEmpty)
    }

    // MARK: The user

    private final class Person: PermissionPrompter {
        var answers: [(Bool) -> Void] = []

        func askPermission(_ question: AppQuestion, answer: @escaping (Bool) -> Void) {
            answers.append(answer)
        }
    }

    private func manager(_ name: String, of user: UInt32, on phone: TestDevice, restoring: String? = nil) -> TestManager
    {
        let declaration = AppDeclaration(usageDescription: "To measure", backgroundModes: .central)
        let app = phone.system.openApp(AppIdentity(name: name, owner: user), declaring: declaration)
        return phone.manager(.central, of: app, restoring: restoring)
    }

    @Test(
        "AB-G05: a user with many app names has a bounded number of open questions, and excess ones wait unanswered"
    )
    func questions() throws {
        let world = ServiceWorld()
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        let person = Person()
        phone.system.apps.permissions.prompter = person
        let greedy = (0..<100).map { manager("com.example.greedy\($0)", of: 7, on: phone) }
        let share = ServiceLimits.permissionQuestions.user
        #expect(person.answers.count == share)
        let modest = manager("com.example.modest", of: 8, on: phone)
        #expect(person.answers.count == share + 1)
        person.answers[share](true)
        world.run(.zero)
        #expect(modest.take() == [.stateChanged(.poweredOn)])
        #expect(greedy.allSatisfy { $0.take().isEmpty })
        // Each answer frees a slot for the next question, and all questions are asked in the end.
        var next = 0
        while next < person.answers.count {
            person.answers[next](true)
            world.run(.zero)
            next += 1
        }
        #expect(person.answers.count == 101)
        #expect(greedy.allSatisfy { $0.take() == [.stateChanged(.poweredOn)] })
    }

    @Test("AB-G05: unanswered questions about other apps do not deny an app anything")
    func unansweredQuestions() throws {
        let world = ServiceWorld()
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        let desk = PromptDesk(phone.system, policy: try PolicyFile(parsing: Array("app name=* ask".utf8)))
        var managers: [TestManager] = []
        for user in 0..<5 as Range<UInt32> {
            managers += (0..<30).map { manager("com.example.\(user).\($0)", of: user, on: phone) }
        }
        world.run(.seconds(60))
        #expect(managers.allSatisfy { $0.take().isEmpty })
        #expect(phone.system.apps.permissions.decisions.isEmpty)
        let registration = desk.add { _ in }
        guard let registration else { return recordIssue("no room for a prompter") }
        desk.open(registration)
        world.run(.seconds(60))
        #expect(managers.allSatisfy { $0.take().isEmpty })
        #expect(phone.system.apps.permissions.decisions.isEmpty)
    }

    @Test(
        "AB-G05: any number of user decisions apply, and those for absent apps are dropped first"
    )
    func decisions() {
        let world = ServiceWorld()
        let phone = world.device("Phone") { $0.permission = .notDetermined }
        let present = manager("com.example.0000", of: 7, on: phone)
        for number in 0..<PermissionRecord.maximumApps {
            let name = "com.example.\(String(10_000 + number).dropFirst())"
            phone.system.apps.permissions.set(.denied, for: AppIdentity(name: name, owner: 7))
        }
        let modest = manager("com.example.modest", of: 8, on: phone)
        phone.system.apps.permissions.set(.allowedAlways, for: AppIdentity(name: "com.example.modest", owner: 8))
        world.run(.zero)
        #expect(modest.take() == [.stateChanged(.poweredOn)])
        #expect(phone.system.apps.permissions.decisions.count == PermissionRecord.maximumApps)
        #expect(phone.system.apps.permissions.decisions[AppIdentity(name: "com.example.0001", owner: 7)] == nil)
        #expect(present.take() == [.stateChanged(.unauthorized)])
    }

    @Test(
        "AB-G05: a user with many app names has a bounded number of records, and another user's app has its own"
    )
    func records() {
        let bench = RecordBench()
        var managers = (0..<50).map { manager("com.example.greedy\($0)", of: 7, on: bench.phone, restoring: "one") }
        bench.world.run(.seconds(1))
        #expect(bench.written.count == ServiceLimits.recordedApps.total / 2)
        #expect(bench.troubles.count { $0.contains("would not be restored") } == 18)
        managers.append(manager("com.example.modest", of: 8, on: bench.phone, restoring: "one"))
        managers.last?.send(.central(.startScan(ScanRequest(services: [0x180D]))))
        bench.world.run(.seconds(1))
        #expect(bench.written.last?.app == AppIdentity(name: "com.example.modest", owner: 8))
        #expect(bench.written.last?.managers.first?.intent.requests.count == 1)
        // Reported once for each app, not for each request.
        managers[49].send(.central(.startScan(ScanRequest(services: [0x180D]))))
        bench.world.run(.seconds(1))
        #expect(bench.troubles.count { $0.contains("would not be restored") } == 18)
    }

    @Test(
        "AB-G05: a manager that does nothing takes no share of what managers share",
        arguments: [ManagerRole.central, .peripheral]
    )
    func idleManagers(role: ManagerRole) throws {
        let phone = ServiceWorld().device("Phone")
        let app = phone.system.openApp(AppIdentity(name: "idle"))
        let manager = phone.manager(role, of: app)
        let held = try #require(phone.system.managers.sessions(of: AppIdentity(name: "idle")).first).holdings
        #expect(held.scans == 0)
        #expect(held.peers == 0)
        #expect(held.attributes == 0)
        #expect(held.publishedChannels == 0)
        #expect(held.channels == 0)
        #expect(held.advertisers == 0)
        withExtendedLifetime(manager) {}
    }

    // MARK: Restored state

    @Test(
        "AB-G05: a restored state fits in one message, with all peripherals but without their services if necessary"
    )
    func restoredState() throws {
        let pair = try ConnectedPair()
        let app = pair.phone.system.openApp(AppIdentity(name: "collector"))
        let manager = pair.phone.manager(.central, of: app, restoring: "one")
        try manager.connect(pair.peer)
        _ = try manager.explore(pair.peer)
        let session = try #require(
            pair.phone.system.managers.sessions(of: AppIdentity(name: "collector")).first as? CentralSession
        )
        let whole = session.restoredPeers(room: ServiceLimits.restoredServiceOctets)
        #expect(whole.count == 1 && whole[0].services.count == 1)
        let cut = session.restoredPeers(room: whole[0].encoded().count - 1)
        #expect(cut.count == 1 && cut[0].services.isEmpty && cut[0].info == whole[0].info)
        #expect(cut[0].maximumWriteWithoutResponse == whole[0].maximumWriteWithoutResponse)
    }
}
