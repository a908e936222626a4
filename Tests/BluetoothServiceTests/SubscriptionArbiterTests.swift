import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct SubscriptionArbiterTests {
    private typealias Arbiter = SubscriptionArbiter<Int>
    private static let failure = ServiceError(.unknown)

    @Test("behaviour 5.17: subscribing again to an active subscription causes no traffic")
    func activeSubscriptionsCauseNoTraffic() {
        var arbiter = Arbiter()
        #expect(arbiter.handle(.request(1, enabled: false)) == [.report(1, isNotifying: false, nil)])
        #expect(arbiter.handle(.request(1, enabled: true)) == [.write(enabled: true)])
        #expect(arbiter.handle(.written(.success(()))) == [.report(1, isNotifying: true, nil)])
        #expect(arbiter.handle(.request(1, enabled: true)) == [.report(1, isNotifying: true, nil)])
    }

    @Test("behaviour 5.18: the first app subscribes and the last one unsubscribes")
    func theFirstSubscribesAndTheLastUnsubscribes() {
        var arbiter = Arbiter()
        _ = arbiter.handle(.request(1, enabled: true))
        #expect(arbiter.handle(.request(2, enabled: true)) == [])
        #expect(
            arbiter.handle(.written(.success(()))) == [
                .report(1, isNotifying: true, nil), .report(2, isNotifying: true, nil),
            ]
        )
        #expect(arbiter.handle(.request(1, enabled: false)) == [.report(1, isNotifying: false, nil)])
        #expect(arbiter.subscribers == [2])
        #expect(arbiter.handle(.request(2, enabled: false)) == [.write(enabled: false)])
        #expect(arbiter.handle(.written(.success(()))) == [.report(2, isNotifying: false, nil)])
        #expect(arbiter.isIdle)
    }

    @Test func aRefusedSubscriptionIsReportedAndTheNextTriesAgain() {
        var arbiter = Arbiter()
        _ = arbiter.handle(.request(1, enabled: true))
        _ = arbiter.handle(.request(2, enabled: true))
        #expect(
            arbiter.handle(.written(.failure(Self.failure))) == [
                .report(1, isNotifying: false, Self.failure), .write(enabled: true),
            ]
        )
        #expect(arbiter.handle(.written(.success(()))) == [.report(2, isNotifying: true, nil)])
    }

    @Test func leavingSubscribersGetNoReport() {
        var arbiter = Arbiter()
        _ = arbiter.handle(.request(1, enabled: true))
        #expect(arbiter.handle(.leave(1)) == [])
        #expect(arbiter.handle(.written(.success(()))) == [.write(enabled: false)])
        #expect(arbiter.handle(.written(.failure(Self.failure))) == [])
        #expect(arbiter.isIdle)
    }

    @Test("behaviour 15.11: a request that waits when the characteristic is removed fails once, with its number")
    func removedCharacteristicsFailQueuedRequests() {
        var arbiter = Arbiter()
        _ = arbiter.handle(.request(1, enabled: true, number: 7))
        _ = arbiter.handle(.request(2, enabled: true, number: 8))
        _ = arbiter.handle(.leave(3))
        #expect(
            arbiter.handle(.gone(Self.failure)) == [
                .report(1, isNotifying: false, Self.failure, number: 7),
                .report(2, isNotifying: false, Self.failure, number: 8),
            ]
        )
        #expect(arbiter.isIdle)
        #expect(arbiter.handle(.written(.success(()))) == [])
    }

    @Test("a request withdrawn before its turn has no effect and gets no response")
    func withdrawnRequestsHaveNoEffect() {
        var arbiter = Arbiter()
        #expect(arbiter.handle(.request(1, enabled: true)) == [.write(enabled: true)])
        #expect(arbiter.handle(.request(2, enabled: true)) == [])
        #expect(arbiter.handle(.leave(2)) == [])
        #expect(arbiter.handle(.written(.success(()))) == [.report(1, isNotifying: true, nil)])
        #expect(arbiter.subscribers == [1])
    }

    @Test("behaviour 5.28: values are delivered from the request to subscribe until the end of the unsubscription")
    func valuesAreDeliveredWhileSubscribed() {
        var arbiter = Arbiter()
        _ = arbiter.handle(.request(1, enabled: true))
        _ = arbiter.handle(.request(2, enabled: true))
        _ = arbiter.handle(.request(3, enabled: false))
        #expect([1, 2, 3].map { arbiter.delivers(to: $0) } == [true, true, false])
        _ = arbiter.handle(.written(.success(())))
        _ = arbiter.handle(.request(2, enabled: false))
        _ = arbiter.handle(.request(1, enabled: false))
        #expect([1, 2, 3].map { arbiter.delivers(to: $0) } == [true, false, false])
        // Subscribes again while the unsubscription is under way.
        _ = arbiter.handle(.request(3, enabled: true))
        #expect([1, 2, 3].map { arbiter.delivers(to: $0) } == [true, false, true])
        #expect(arbiter.handle(.written(.success(()))).count == 2)
        #expect([1, 2, 3].map { arbiter.delivers(to: $0) } == [false, false, true])
        _ = arbiter.handle(.written(.failure(Self.failure)))
        #expect(arbiter.isIdle)
    }

    @Test(
        "behaviour 4.21, AB-A09: without a client configuration each manager that asked receives values until it unsubscribes or leaves"
    )
    func valuesWithoutClientConfigurationAreShared() {
        var arbiter = Arbiter()
        for subscriber in 1...3 {
            _ = arbiter.handle(.request(subscriber, enabled: true))
            let actions = arbiter.handle(.absent(Self.failure))
            #expect(actions == [.report(subscriber, isNotifying: false, Self.failure)])
        }
        #expect((1...4).map { arbiter.delivers(to: $0) } == [true, true, true, false])
        #expect(arbiter.subscribers == [])
        #expect(arbiter.handle(.request(1, enabled: false)) == [.report(1, isNotifying: false, nil)])
        #expect(arbiter.handle(.leave(2)) == [])
        #expect((1...4).map { arbiter.delivers(to: $0) } == [false, false, true, false])
        #expect(!arbiter.isIdle)
        // The configuration is there after all.
        #expect(arbiter.handle(.request(3, enabled: true)) == [.write(enabled: true)])
        _ = arbiter.handle(.written(.success(())))
        #expect(!arbiter.hasListeners)
        #expect(arbiter.subscribers == [3])
        // An end without an app to report to leaves no listener.
        _ = arbiter.handle(.leave(3))
        _ = arbiter.handle(.absent(Self.failure))
        #expect(arbiter.isIdle)
        #expect(arbiter.handle(.absent(Self.failure)) == [])
        _ = arbiter.handle(.request(1, enabled: true))
        _ = arbiter.handle(.absent(Self.failure))
        _ = arbiter.handle(.gone(Self.failure))
        #expect(arbiter.isIdle)
    }

    @Test("AB-G05: the pending changes of one subscription are bounded")
    func wishesAreBounded() {
        var arbiter = Arbiter()
        for index in 0...ServiceLimits.subscriptionChanges { _ = arbiter.handle(.request(index, enabled: true)) }
        let actions = arbiter.handle(.request(99, enabled: true))
        let error = ServiceError(.outOfSpace, reason: "too many changes of this subscription are pending")
        #expect(actions == [.report(99, isNotifying: false, error)])
    }
}
