import ActivityKit
import BluetoothSimulation
import CoreBluetooth
import TestBasics
import Testing

/// Live Activities of apps, from the request to their dismissal.
@Suite struct ActivityTests {
    // MARK: Requests

    @Test("behaviour 9.22: an activity begins in the foreground alone")
    func activitiesBeginInTheForeground() throws {
        let world = ActivityWorld()
        let activity = try world.start(7)
        #expect(activity.activityState == .active)
        #expect(activity.attributes.name == "Walk")
        #expect(activity.content.state.steps == 7)
        #expect(world.app.hasLiveActivity)
        world.app.leave()
        #expect(throws: ActivityAuthorizationError.visibility) { try world.start() }
        #expect(try world.inApp { Activity<Walk>.activities.map(\.id) } == [activity.id])
        world.app.enter()
        let second = try world.start()
        #expect(try world.inApp { Activity<Walk>.activities.map(\.id) } == [activity.id, second.id])
    }

    @Test(
        "behaviours 9.18, 9.22: without the key in Info.plist, and before iOS 16.1, activities are unsupported",
        arguments: [(SystemVersion(16, 0), true), (SystemVersion(16, 1), true), (26, false), (26, true)]
    )
    func activitiesAreDeclared(version: SystemVersion, declares: Bool) throws {
        let world = ActivityWorld(version: version, declares: declares)
        let areThere = declares && version >= SystemVersion(16, 1)
        #expect(try world.inApp { ActivityAuthorizationInfo().areActivitiesEnabled } == areThere)
        if areThere {
            _ = try world.start()
        } else {
            let error = declares ? ActivityAuthorizationError.unsupported : .unsupportedTarget
            #expect(throws: error) { try world.start() }
        }
        #expect(world.app.hasLiveActivity == areThere)
    }

    @Test("behaviour 9.22: push notifications, more than 4 KB and a sixth activity are refused")
    func requestsAreRefused() throws {
        let world = ActivityWorld()
        for type in [PushType.token, .channel("c29tZUNoYW5uZWw=")] {
            #expect(throws: ActivityAuthorizationError.unentitled) { try world.start(pushType: type) }
        }
        let long = Walk(name: String(repeating: "w", count: 4_096))
        let content = ActivityContent(state: Walk.ContentState(steps: 0), staleDate: nil)
        #expect(throws: ActivityAuthorizationError.attributesTooLarge) {
            try world.inApp { _ = try Activity.request(attributes: long, content: content) }
        }
        #expect(!world.app.hasLiveActivity)
        let first = try world.start()
        for _ in 2...5 { _ = try world.start() }
        #expect(throws: ActivityAuthorizationError.targetMaximumExceeded) { try world.start() }
        try world.end(first)
        _ = try world.start()
    }

    // MARK: Updates and ends

    @Test("behaviour 9.23: an app in the background updates an activity, and one that has ended ignores it")
    func activitiesAreUpdatedInTheBackground() throws {
        let world = ActivityWorld()
        let activity = try world.start()
        let steps = Notes<Int>()
        world.app.task { for await content in activity.contentUpdates { steps.add(content.state.steps) } }
        world.app.leave()
        for count in [3, 4] {
            try world.inApp { await activity.update(ActivityContent(state: .init(steps: count), staleDate: nil)) }
        }
        #expect(activity.content.state.steps == 4)
        try world.inApp { await activity.end(ActivityContent(state: .init(steps: 5), staleDate: nil)) }
        try world.inApp { await activity.update(ActivityContent(state: .init(steps: 6), staleDate: nil)) }
        #expect(steps.all == [3, 4, 5])
        #expect(activity.content.state.steps == 5)
        #expect(activity.activityState == .ended)
    }

    @Test("behaviour 9.23: an activity is stale from its date to the next update")
    func activitiesBecomeStale() throws {
        let world = ActivityWorld()
        let activity = try world.start(staleDate: Date() + 600)
        let states = world.states(of: activity)
        world.world.run(for: .seconds(500))
        #expect(states.all == [])
        world.world.run(for: .seconds(101))
        #expect(states.all == ["stale"])
        #expect(world.app.hasLiveActivity)
        try world.inApp { await activity.update(ActivityContent(state: .init(steps: 1), staleDate: Date() + 60)) }
        try world.inApp { await activity.update(ActivityContent(state: .init(steps: 1), staleDate: nil)) }
        world.world.run(for: .seconds(100))
        #expect(states.all == ["stale", "active"])
    }

    @Test(
        "behaviour 9.23: an activity that has ended is shown until the policy dismisses it, four hours at most",
        arguments: [nil, 0, 600, 5 * 3_600] as [Int?]
    )
    func policiesDismiss(after seconds: Int?) throws {
        let world = ActivityWorld()
        let activity = try world.start()
        let states = world.states(of: activity)
        let policy: ActivityUIDismissalPolicy =
            switch seconds {
            case nil: .default
            case 0?: .immediate
            case let seconds?: .after(Date() + Double(seconds))
            }
        try world.end(activity, policy)
        #expect(!world.app.hasLiveActivity)
        let shown = min(seconds ?? 4 * 3_600, 4 * 3_600)
        if shown > 0 {
            world.world.run(for: .seconds(shown - 100))
            #expect(states.all == ["ended"])
            #expect(try world.inApp { Activity<Walk>.activities.count } == 1)
            world.world.run(for: .seconds(101))
        }
        #expect(states.all == (shown > 0 ? ["ended"] : []) + ["dismissed", "over"])
        #expect(try world.inApp { Activity<Walk>.activities.isEmpty })
        try world.end(activity)
        #expect(world.states(of: activity).all == ["over"])
    }

    // MARK: Privileges

    @Test(
        "behaviours 9.17, 9.24: the app keeps the privileges until the last of its activities ends, from iOS 26 on",
        arguments: [25, 26]
    )
    func privilegesLastAsLongAsAnyActivity(version: Int) throws {
        let world = ActivityWorld(version: SystemVersion(integerLiteral: version), hasBelt: true)
        let activities = [try world.start(), try world.start()]
        #expect(world.isScanning())
        world.app.leave()
        #expect(world.isScanning() == (version >= 26))
        try world.end(activities[1])
        #expect(world.app.hasLiveActivity)
        #expect(world.isScanning() == (version >= 26))
        try world.end(activities[0])
        #expect(!world.app.hasLiveActivity)
        #expect(!world.isScanning())
    }

    @Test("behaviour 9.24: activities belong to one process of one app")
    func activitiesBelongToAProcess() throws {
        let world = ActivityWorld()
        _ = try world.start()
        let other = world.phone.launch("other", declaring: AppDeclaration()) { _ in Activity<Walk>.activities.count }
        #expect(other == 0)
        world.app.crash()
        let next = world.phone.launch("scanner") { ($0, Activity<Walk>.activities.count) }
        #expect(next.1 == 0)
        #expect(!next.0.hasLiveActivity)
    }

    // MARK: Ends that the app does not cause

    @Test("behaviour 9.25: activities that the user removes are dismissed, which a suspended app receives later")
    func theUserRemovesActivities() throws {
        for isSuspended in [false, true] {
            let world = ActivityWorld()
            let activity = try world.start()
            let ended = try world.start()
            try world.end(ended)
            let states = world.states(of: activity)
            if isSuspended { world.app.suspend() }
            #expect(world.app.hasLiveActivity)
            world.app.endLiveActivity()
            world.world.run(for: .seconds(1))
            #expect(states.all == (isSuspended ? [] : ["dismissed", "over"]))
            world.app.enter()
            world.world.run(for: .seconds(1))
            #expect(states.all == ["dismissed", "over"])
            #expect(ended.activityState == .ended)
            #expect(try world.inApp { Activity<Walk>.activities.map(\.id) } == [ended.id])
        }
    }

    @Test("behaviours 9.18, 9.25: each activity ends after its own eight hours, and is dismissed four hours later")
    func timeEndsActivities() throws {
        let world = ActivityWorld()
        let first = try world.start()
        world.world.run(for: .seconds(3_600))
        let second = try world.start()
        world.world.run(for: .seconds(7 * 3_600 - 5))
        #expect(first.activityState == .active)
        world.world.run(for: .seconds(10))
        #expect(first.activityState == .ended)
        #expect(second.activityState == .active)
        #expect(world.app.hasLiveActivity)
        world.app.suspend()
        world.world.run(for: .seconds(3_600))
        #expect(!world.app.hasLiveActivity)
        world.app.enter()
        world.world.run(for: .seconds(1))
        #expect(second.activityState == .ended)
        world.world.run(for: .seconds(3 * 3_600))
        #expect(first.activityState == .dismissed)
        #expect(second.activityState == .ended)
    }

    @Test("behaviours 9.18, 9.24: the time of an activity is not extended by a later one that has ended")
    func laterActivitiesExtendNothing() throws {
        let world = ActivityWorld()
        _ = try world.start()
        world.world.run(for: .seconds(3_600))
        try world.end(world.start())
        #expect(world.app.hasLiveActivity)
        world.world.run(for: .seconds(7 * 3_600 + 1))
        #expect(!world.app.hasLiveActivity)
    }
}
