import HCI

/// Where a system gets its controllers, one after the other. Lives on the system's loop.
package final class ControllerSource {
    private let open: () -> (any HCITransport)?
    var onArrival: (() -> Void)?

    /// A place where there may be a controller.
    ///
    /// - Parameter open: Opens the line to the controller that is there, each time anew; nil when there is none, and then
    ///   ``arrived()`` says when there is one. A line that turns out to lead nowhere may be handed out too: it closes, and the
    ///   system tries again by itself.
    package init(open: @escaping () -> (any HCITransport)?) {
        self.open = open
    }

    /// One controller, and no other after it.
    package convenience init(_ transport: any HCITransport) {
        var left: (any HCITransport)? = transport
        self.init {
            defer { left = nil }
            return left
        }
    }

    /// Says that there is a controller now.
    package func arrived() {
        onArrival?()
    }

    func next() -> (any HCITransport)? { open() }
}
