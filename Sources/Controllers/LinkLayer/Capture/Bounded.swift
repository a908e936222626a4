/// A dictionary that evicts its oldest entry when full.
struct Bounded<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let maximum: Int
    private var values: [Key: Value] = [:]
    private var order: [Key] = []

    init(_ maximum: Int) {
        self.maximum = maximum
    }

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            if let newValue {
                if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
                if order.count > maximum { values[order.removeFirst()] = nil }
            } else if values.removeValue(forKey: key) != nil {
                order.removeAll { $0 == key }
            }
        }
    }
}
