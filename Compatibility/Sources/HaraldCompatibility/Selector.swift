public import Foundation
import Synchronization

/// A reference to a method with at most one argument, which `harald swift --adapt` makes of `#selector`.
public struct Selector: Sendable {
    /// Calls the method of an object or of its class, with the argument if it takes one. Does nothing for objects of
    /// other types.
    let perform: @Sendable (AnyObject, Any?) -> Void

    /// A method without an argument.
    public init<Target: AnyObject, Result>(
        _ method: @escaping (Target) -> () -> Result
    ) {
        // Safe: as with Objective-C, the caller sees to the thread on which its method runs.
        nonisolated(unsafe) let method = method
        perform = { target, _ in
            if let target = target as? Target { _ = method(target)() }
        }
    }

    /// A method with an argument: the timer, the notification, or the object that was passed.
    public init<Target: AnyObject, Argument, Result>(
        _ method: @escaping (Target) -> (Argument) -> Result
    ) {
        // Safe: as with Objective-C, the caller sees to the thread on which its method runs.
        nonisolated(unsafe) let method = method
        perform = { target, argument in
            if let target = target as? Target, let argument = argument as? Argument { _ = method(target)(argument) }
        }
    }

    /// A class method without an argument.
    @_disfavoredOverload
    public init<Result>(_ method: @escaping () -> Result) {
        // Safe: as with Objective-C, the caller sees to the thread on which its method runs.
        nonisolated(unsafe) let method = method
        perform = { _, _ in _ = method() }
    }

    /// A class method with an argument.
    @_disfavoredOverload
    public init<Argument, Result>(_ method: @escaping (Argument) -> Result) {
        // Safe: as with Objective-C, the caller sees to the thread on which its method runs.
        nonisolated(unsafe) let method = method
        perform = { _, argument in
            if let argument = argument as? Argument { _ = method(argument) }
        }
    }
}

/// A timer with the information that its creator gave it, which Foundation's timers on Linux do not keep.
private final class InformedTimer: Timer, @unchecked Sendable {
    // Safe: as with Apple's timers, the information is read where the timer calls.
    private let information: Any?
    private let original: Timer?

    /// Creates a timer that calls a method of an object.
    init(_ interval: TimeInterval, _ target: AnyObject, _ selector: Selector, _ information: Any?, repeats: Bool) {
        self.information = information
        original = nil
        // Safe: the timer calls on the run loop that it was added to, as it would with Objective-C.
        nonisolated(unsafe) let target = target
        super.init(fire: Date(timeIntervalSinceNow: interval), interval: interval, repeats: repeats) {
            selector.perform(target, $0)
        }
    }

    /// Creates a timer that stands for another one.
    init(for original: Timer, _ information: Any?) {
        self.information = information
        self.original = original
        super.init(fire: original.fireDate, interval: original.timeInterval, repeats: false) { _ in }
    }

    override var userInfo: Any? { information }

    override func invalidate() {
        original?.invalidate()
        super.invalidate()
    }
}

extension Timer {
    /// Creates a timer that calls a method of an object, which it retains, and schedules it on the current run loop.
    @discardableResult
    public class func scheduledTimer(
        timeInterval interval: TimeInterval,
        target: Any,
        selector: Selector,
        userInfo: Any?,
        repeats: Bool
    ) -> Timer {
        let timer = InformedTimer(interval, target as AnyObject, selector, userInfo, repeats: repeats)
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }

    /// Creates a timer that calls a method of an object, which it retains. Only the timer that the method receives has
    /// `userInfo`.
    public convenience init(
        timeInterval interval: TimeInterval,
        target: Any,
        selector: Selector,
        userInfo: Any?,
        repeats: Bool
    ) {
        // Safe: the timer calls on the run loop that it was added to, as it would with Objective-C.
        nonisolated(unsafe) let (target, information) = (target as AnyObject, userInfo)
        self.init(fire: Date(timeIntervalSinceNow: interval), interval: interval, repeats: repeats) { timer in
            selector.perform(target, information == nil ? timer : InformedTimer(for: timer, information))
        }
    }
}

/// The observers of notifications that have a method for it.
private enum MethodObservers {
    private struct Registration {
        weak let observer: AnyObject?
        let name: NSNotification.Name?
        let token: any NSObjectProtocol
    }

    // Safe: tokens are only passed back to the centre, which any thread may do.
    private struct Table: @unchecked Sendable {
        var registrations: [ObjectIdentifier: [Registration]] = [:]
    }

    private static let table = Mutex(Table())

    static func add(_ observer: AnyObject, _ name: NSNotification.Name?, _ token: any NSObjectProtocol) {
        let registration = Registration(observer: observer, name: name, token: token)
        table.withLock { $0.registrations[ObjectIdentifier(observer), default: []].append(registration) }
    }

    /// Removes the registrations of an observer, and returns their tokens.
    static func remove(_ observer: AnyObject, _ name: NSNotification.Name?) -> [any NSObjectProtocol] {
        let tokens: Tokens = table.withLock { table in
            let all = table.registrations.removeValue(forKey: ObjectIdentifier(observer)) ?? []
            let removed = all.filter { name == nil || $0.name == name || $0.observer == nil }
            let kept = all.filter { registration in !removed.contains { $0.token === registration.token } }
            if !kept.isEmpty { table.registrations[ObjectIdentifier(observer)] = kept }
            return Tokens(values: removed.map(\.token))
        }
        return tokens.values
    }

    // Safe: as the table.
    private struct Tokens: @unchecked Sendable {
        let values: [any NSObjectProtocol]
    }
}

extension NotificationCenter {
    /// Calls a method of an object for each notification. The object is not retained.
    public func addObserver<Observer: AnyObject>(
        _ observer: Observer,
        selector: Selector,
        name: NSNotification.Name?,
        object: Any?
    ) {
        // Safe: the method is called on the thread that posts the notification, as it would be with Objective-C.
        nonisolated(unsafe) weak let target = observer
        let token = addObserver(forName: name, object: object, queue: nil) { notification in
            if let target { selector.perform(target, notification) }
        }
        MethodObservers.add(observer, name, token)
    }

    /// Ends all observations of an object, whether by a method or by a closure.
    public func removeObserver<Observer: AnyObject>(_ observer: Observer) {
        for token in MethodObservers.remove(observer, nil) { removeObserver(token as Any) }
        removeObserver(observer as Any)
    }

    /// Ends the observations of an object for one notification.
    public func removeObserver<Observer: AnyObject>(
        _ observer: Observer,
        name: NSNotification.Name?,
        object: Any?
    ) {
        for token in MethodObservers.remove(observer, name) { removeObserver(token as Any) }
    }
}
