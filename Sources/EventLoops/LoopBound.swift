/// Something that lives on one loop, to be carried through closures that other threads run.
///
/// The value may be of any type: it is only handed out on the loop, and let go of there, wherever the last holder of the
/// box is.
package final class LoopBound<Value>: @unchecked Sendable {
    // Safe: `parcel` is private, and its value is reached on the loop only, by the accessor, which traps elsewhere, and
    // by the release, which is submitted there.
    private let parcel: Parcel<Value>
    /// The loop that the value lives on.
    package let loop: any EventLoop

    /// Binds `value` to `loop`. On the loop only.
    package init(_ value: Value, loop: any EventLoop) {
        precondition(loop.isCurrent, "a value is bound to a loop on that loop")
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

    /// The value. On the loop only.
    package var value: Value {
        precondition(loop.isCurrent, "this value lives on its event loop; use submit(_:) to get there")
        guard let value = parcel.value else { preconditionFailure("the value stays until the box is gone") }
        return value
    }
}

/// What is in the box, so that the loop can empty it after the box is gone.
private final class Parcel<Value>: @unchecked Sendable {
    // Safe: see LoopBound, the only user.
    var value: Value?

    init(_ value: Value) {
        self.value = value
    }
}
