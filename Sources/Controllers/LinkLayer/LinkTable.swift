import HCI

/// The links of a controller, the allocation of their handles, and the flow of their data to the host.
final class LinkTable {
    /// The links in order of creation.
    private(set) var links: [Link] = []
    private(set) var flow = HostFlow()
    /// The index of the link whose held data are passed first next time.
    private var nextToPass = 0
    private var lastHandle: UInt16 = 0

    func link(_ handle: ConnectionHandle) -> Link? {
        links.first { $0.handle == handle }
    }

    /// Returns an unused handle. Handles are allocated cyclically, so that stale ones are noticed.
    func newHandle() -> ConnectionHandle {
        repeat {
            lastHandle = lastHandle >= ConnectionHandle.maximum.rawValue ? 1 : lastHandle + 1
        } while link(ConnectionHandle(rawValue: lastHandle)) != nil
        return ConnectionHandle(rawValue: lastHandle)
    }

    func add(_ link: Link) {
        links.append(link)
        flow.opened(link.handle)
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each link and each packet for the
    /// host.
    private var brokenInvariant: String? {
        let handles = Set(links.map(\.handle))
        guard handles.count == links.count else { return "two links have one handle" }
        guard links.allSatisfy({ !$0.stage.hasEnded }) else { return "the table has a link that has ended" }
        return flow.brokenInvariant(with: handles)
    }

    /// Removes a link that has ended. Its packets count as completed.
    func remove(_ link: Link) {
        links.removeAll { $0 === link }
        flow.closed(link.handle)
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// Restores the state after a reset. The links have been dropped.
    func reset() {
        links.removeAll()
        flow = HostFlow()
    }

    // MARK: Data for the host (Core Vol 4 Part E 4.1.2)

    /// Applies Set Controller To Host Flow Control, which is not allowed while there are links (7.3.38).
    func setFlowControl(_ command: SetControllerToHostFlowControl) -> HCIStatus {
        guard command.kinds <= 3 else { return .invalidParameters }
        guard links.isEmpty else { return .commandDisallowed }
        // Synchronous links are not implemented.
        guard command.kinds <= 1 else { return .unsupportedFeatureOrParameter }
        flow.enable(command.kinds == 1)
        return .success
    }

    func resizeBuffers(_ command: HostBufferSize) -> HCIStatus {
        flow.resize(length: command.aclLength, count: command.aclCount) ? .success : .invalidParameters
    }

    /// Applies Host Number Of Completed Packets, and passes on what waited for the buffers.
    func complete(_ command: HostNumberOfCompletedPackets) -> HCIStatus {
        guard flow.returned(command.entries) else { return .invalidParameters }
        passOn()
        assert(brokenInvariant == nil, brokenInvariant ?? "")
        return .success
    }

    func sent(from link: Link) {
        flow.sent(link.handle)
    }

    /// Passes held data to the host as its buffers allow, with the links taking turns.
    func passOn() {
        guard !links.isEmpty else { return }
        nextToPass %= links.count
        for link in links[nextToPass...] + links[..<nextToPass] { link.passOn() }
        nextToPass += 1
    }
}
