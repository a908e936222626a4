/// A value that lives on one loop, in a box that may cross threads inside closures.
///
/// The value may be of any type. The box hands it out on the loop only, and releases it there, whichever thread drops
/// the last reference to the box.
package final class LoopBound<Value>: @unchecked Sendable {
    // Safe: `parcel` is private. Its value is only accessed on the loop: by the accessor, which traps elsewhere, and by
    // the release, which is submitted to the loop.
    private let parcel: Parcel<Value>
    package let loop: any EventLoop

    /// Binds `value` to `loop`. On the loop only.
    package init(_ value: Value, loop: any EventLoop) {
        precondition(loop.isCurrent, "bind a value to a loop on that loop")
        parcel = Parcel(value)
        self.loop = loop
    }

    /// Binds a value to `loop` from another thread, which may go on to use only what is safe on any thread.
    package init(keeping value: Value, loop: any EventLoop) {
        parcel = Parcel(value)
        self.loop = loop
    }

    deinit {
        if loop.isCurrent {
            parcel.value = nil
        } else {
            loop.submit { [parcel] in parcel.value = nil }
        }
    }

    /// The value. Traps unless called on the loop.
    package var value: Value {
        precondition(loop.isCurrent, "access this value on its event loop; use submit(_:) from other threads")
        guard let value = parcel.value else { preconditionFailure("the value was released before its box") }
        return value
    }
}

/// Holds the value of a ``LoopBound``, so that the loop can release it after the box is gone.
private final class Parcel<Value>: @unchecked Sendable {
    // Safe: see LoopBound, the only user.
    var value: Value?

    init(_ value: Value) {
        self.value = value
    }
}
