import HCI

/// The source of a system's controllers, one after the other. Used on the system's loop only.
package final class ControllerSource {
    private let open: () -> (any HCITransport)?
    var onArrival: (() -> Void)?

    /// Creates a source for a place that may have a controller.
    ///
    /// - Parameter open: Opens a new transport to the controller each time. Returns nil if there is no controller; then
    ///   ``arrived()`` has to be called when there is one. It may also return a transport that turns out to lead
    ///   nowhere: it closes, and the system tries again by itself.
    package init(open: @escaping () -> (any HCITransport)?) {
        self.open = open
    }

    package convenience init(_ transport: any HCITransport) {
        var left: (any HCITransport)? = transport
        self.init { left.take() }
    }

    package func arrived() {
        onArrival?()
    }

    func next() -> (any HCITransport)? { open() }
}
