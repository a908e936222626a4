public import Combine
public import CoreBluetooth

extension _KeyValueCodingAndObserving {
    /// Publishes the values of a property.
    ///
    /// - Parameters:
    ///   - keyPath: The property, such as `\.state`.
    ///   - options: With `initial`, the present value is published first.
    public func publisher<Value>(
        for keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> KeyValueObservingPublisher<Self, Value> {
        KeyValueObservingPublisher(object: self, keyPath: keyPath, options: options)
    }
}

/// The values of an object's property. A subscriber that has not asked for a value misses it, as with Apple's.
public struct KeyValueObservingPublisher<Subject: _KeyValueCodingAndObserving, Value>: Publisher {
    public typealias Output = Value
    public typealias Failure = Never

    public let object: Subject
    public let keyPath: KeyPath<Subject, Value>
    public let options: NSKeyValueObservingOptions

    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Value, Downstream.Failure == Never {
        let observation = Observation(of: object)
        if options.contains(.initial) {
            let current = CurrentValueSubject<Value, Never>(object[keyPath: keyPath])
            observation.start(keyPath) { current.send($0) }
            // It may have changed before it was observed.
            current.value = object[keyPath: keyPath]
            current.handleEvents(receiveCancel: observation.end).subscribe(subscriber)
        } else {
            let later = PassthroughSubject<Value, Never>()
            observation.start(keyPath) { later.send($0) }
            later.handleEvents(receiveCancel: observation.end).subscribe(subscriber)
        }
    }
}

/// Keeps the object and its observation for as long as there is a subscription.
private final class Observation<Subject: _KeyValueCodingAndObserving> {
    private let object: Subject
    private var observation: NSKeyValueObservation?

    init(of object: Subject) { self.object = object }

    func start<Value>(_ keyPath: KeyPath<Subject, Value>, _ receive: @escaping (Value) -> Void) {
        observation = object.observe(keyPath, options: .new) { _, change in change.newValue.map(receive) }
    }

    func end() { observation?.invalidate() }
}
