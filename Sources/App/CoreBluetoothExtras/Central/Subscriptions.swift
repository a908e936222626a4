import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

/// The streams of notified values of one peripheral, which share one subscription for each characteristic.
final class Subscriptions: Sendable {
    typealias Source = EventStream<Data>.Source

    private struct Subscription {
        let characteristic: CBCharacteristic
        /// Whether the characteristic was subscribed to for these streams, and not before.
        let isOurs: Bool
        var sources: [UInt64: Source] = [:]
    }

    private struct State {
        var byHandle: [AttributeHandle: Subscription] = [:]
        var lastSource: UInt64 = 0
        /// The number of pending requests to unsubscribe that were made here.
        var endings: [AttributeHandle: Int] = [:]
        var isListening = false
    }

    private let state = Mutex(State())

    /// Adds a stream. Returns its number, and whether to subscribe to the characteristic.
    func add(_ source: Source, to characteristic: CBCharacteristic) -> (number: UInt64, isFirst: Bool) {
        state.withLock { state in
            state.lastSource += 1
            let handle = characteristic.handle
            let known = state.byHandle[handle].flatMap { $0.characteristic === characteristic ? $0 : nil }
            let isSubscribed = characteristic.isNotifying && state.endings[handle] == nil
            var subscription = known ?? Subscription(characteristic: characteristic, isOurs: !isSubscribed)
            subscription.sources[state.lastSource] = source
            state.byHandle[handle] = subscription
            return (state.lastSource, known == nil && !isSubscribed)
        }
    }

    /// Removes a stream. Returns whether to unsubscribe, in which case the request counts as pending.
    func remove(_ number: UInt64, from characteristic: CBCharacteristic) -> Bool {
        state.withLock { state in
            let handle = characteristic.handle
            guard var subscription = state.byHandle[handle], subscription.characteristic === characteristic else {
                return false
            }
            subscription.sources[number] = nil
            state.byHandle[handle] = subscription.sources.isEmpty ? nil : subscription
            guard subscription.sources.isEmpty, subscription.isOurs else { return false }
            state.endings[handle, default: 0] += 1
            return true
        }
    }

    func ended(_ characteristic: CBCharacteristic) {
        state.withLock {
            let left = ($0.endings[characteristic.handle] ?? 1) - 1
            $0.endings[characteristic.handle] = left > 0 ? left : nil
        }
    }

    /// Returns whether to start listening to the peripheral, true on the first call only.
    func beginListening() -> Bool {
        state.withLock { state in
            defer { state.isListening = true }
            return !state.isListening
        }
    }

    func handle(_ update: PeripheralUpdate) {
        switch update {
        case .event(.valueNotified(let handle, let value)): send(Data(value), from: handle)
        case .event(.notifyStateChanged(let handle, isNotifying: false, nil)):
            // The app has unsubscribed by other means, so that the streams end.
            let isElsewhere = state.withLock { $0.endings[handle] == nil }
            if isElsewhere { finish(nil) { $0.handle == handle } }
        case .servicesModified(let dead):
            let error = ServiceError(.invalidHandle, reason: "the peer's services have changed").apiError
            finish(error) { characteristic in dead.contains { $0 === characteristic.service } }
        case .disconnected(let end):
            finish(end.error) { _ in true }
            state.withLock { $0.endings = [:] }
        case .event, .connected, .connectionFailed: break
        }
    }

    func finish(_ error: (any Error)?, _ isAffected: (CBCharacteristic) -> Bool) {
        let over = state.withLock { state in
            let over = state.byHandle.filter { isAffected($0.value.characteristic) }
            for handle in over.keys { state.byHandle[handle] = nil }
            return over.values.flatMap(\.sources.values)
        }
        for source in over { source.finish(error) }
    }

    private func send(_ value: Data, from handle: AttributeHandle) {
        let sources = state.withLock { $0.byHandle[handle].map { Array($0.sources.values) } ?? [] }
        for source in sources { source.send(value) }
    }
}

/// Streams of notified and indicated values.
extension CBPeripheral {
    /// A new stream of the values that a characteristic notifies or indicates, without those that are read
    /// (behaviour 15.1).
    ///
    /// The first stream subscribes, and the end of the last one unsubscribes, unless the app had subscribed by
    /// `setNotifyValue(_:for:)` before. Several streams share one subscription, and each has all values.
    ///
    /// A stream does not outlast its connection, since the characteristic does not. It ends:
    ///
    /// - with the error of the disconnection, or without one if the app disconnected
    /// - with `CBError.invalidHandle` when the service changes
    /// - with the peer's error when that refuses the subscription
    /// - without an error when the app unsubscribes by `setNotifyValue(_:for:)`
    ///
    /// - Parameter characteristic: The characteristic.
    /// - Returns: A new stream, which retains the peripheral.
    public func notifications(of characteristic: CBCharacteristic) -> EventStream<Data> {
        let (stream, source) = EventStream<Data>.make()
        let subscriptions = asynchronous.subscriptions
        if subscriptions.beginListening() { updates.add { subscriptions.handle($0) } }
        let (number, isFirst) = subscriptions.add(source, to: characteristic)
        source.onEnd { [self] in
            guard subscriptions.remove(number, from: characteristic) else { return }
            ask(.setNotify(characteristic.handle, isEnabled: false), of: characteristic) { _ in
                subscriptions.ended(characteristic)
            }
        }
        if isFirst { subscribe(to: characteristic, for: subscriptions) }
        return stream
    }

    private func subscribe(to characteristic: CBCharacteristic, for subscriptions: Subscriptions) {
        ask(.setNotify(characteristic.handle, isEnabled: true), of: characteristic) { outcome in
            let error: (any Error)? =
                switch outcome {
                case .failure(let error): error
                case .success(.notifyStateChanged(_, _, let error)): error?.apiError
                case .success: nil
                }
            if let error { subscriptions.finish(error) { $0 === characteristic } }
        }
    }
}
