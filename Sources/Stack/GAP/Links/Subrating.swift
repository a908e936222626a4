import HCI
import HCIHost

/// Connection subrating, by which idle links use fewer events (Core Vol 3 Part C 9.3.16): the Connection Subrate Update
/// procedure as central and the Connection Subrate Request procedure as peripheral.
package final class Subrating {
    /// The requested or acceptable subrate parameters.
    package struct Parameters: Hashable, Sendable {
        /// The subrate factor: one of so many events is used, 1 to 500.
        package var factor: ClosedRange<UInt16>
        /// The peripheral latency, in subrated events.
        package var latency: UInt16 = 0
        /// The continuation number: events that stay in use after one with data.
        package var continuation: UInt16 = 0
        /// The supervision timeout, in units of 10 ms.
        package var timeout: UInt16

        /// Creates parameters, by default without latency and continuation.
        package init(factor: ClosedRange<UInt16>, latency: UInt16 = 0, continuation: UInt16 = 0, timeout: UInt16) {
            (self.factor, self.latency, self.continuation, self.timeout) = (factor, latency, continuation, timeout)
        }
    }

    /// Called after each change of a link, whichever side requested it.
    package var onChange: ((AccessLink, LESubrateChange) -> Void)?

    private unowned let owner: any LinkDevice
    private var waiting: [ConnectionHandle: Waiting] = [:]

    private struct Waiting {
        weak var link: AccessLink?
        var completion: (Result<LESubrateChange, GAPError>) -> Void
    }

    init(_ owner: any LinkDevice) {
        self.owner = owner
        owner.host.onEvent(LESubrateChange.self) { [weak self] in self?.changed($0) }
    }

    /// Announces host support for subrated links and sets the parameters that peripherals may request. The controller
    /// accepts this only while there are no links (Core Vol 4 Part E 7.8.115), so call it before the first one.
    package func allow(_ parameters: Parameters, completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }) {
        let commands: [any HCICommand] = [
            // Connection Subrating (Host Support).
            LESetHostFeature(bitNumber: 38, isSupported: true),
            LESetDefaultSubrate(
                subrateMin: parameters.factor.lowerBound,
                subrateMax: parameters.factor.upperBound,
                maxLatency: parameters.latency,
                continuation: parameters.continuation,
                supervisionTimeout: parameters.timeout
            ),
        ]
        owner.host.send(inOrder: commands) { completion($0.mapError { GAPError($0) }) }
    }

    /// Changes the subrate parameters of a link as central, or asks the central to do so as peripheral. Only one
    /// request per link can be pending.
    ///
    /// - Parameter completion: Called once, when the change is in effect or with an error.
    package func request(
        _ parameters: Parameters,
        on link: AccessLink,
        completion: @escaping (Result<LESubrateChange, GAPError>) -> Void
    ) {
        guard link.isOpen else { return completion(.failure(.linkLost(.unknownConnection))) }
        let handle = link.connection.handle
        // A request left over from a link that has ended does not block.
        if let old = waiting[handle], old.link?.isOpen ?? false { return completion(.failure(.busy)) }
        waiting[handle] = Waiting(link: link, completion: completion)
        owner.peerFeatures.read(of: link.connection) { [weak self] result in
            switch result {
            case .failure(let error): self?.finish(handle, .failure(error))
            case .success: self?.ask(parameters, handle)
            }
        }
    }

    private func ask(_ parameters: Parameters, _ handle: ConnectionHandle) {
        owner.host.send(
            LESubrateRequest(
                handle: handle,
                subrateMin: parameters.factor.lowerBound,
                subrateMax: parameters.factor.upperBound,
                maxLatency: parameters.latency,
                continuation: parameters.continuation,
                supervisionTimeout: parameters.timeout
            )
        ) { [weak self] result in
            if case .failure(let error) = result { self?.finish(handle, .failure(GAPError(error))) }
        }
    }

    private func changed(_ event: LESubrateChange) {
        if event.status == .success, let link = owner.link(event.handle) {
            link.subrated()
            onChange?(link, event)
        }
        finish(event.handle, event.status == .success ? .success(event) : .failure(.rejected(event.status)))
    }

    private func finish(_ handle: ConnectionHandle, _ result: Result<LESubrateChange, GAPError>) {
        waiting.removeValue(forKey: handle)?.completion(result)
    }

    /// Called when a link has ended.
    func ended(_ link: AccessLink, _ reason: HCIStatus) {
        guard waiting[link.connection.handle]?.link === link else { return }
        finish(link.connection.handle, .failure(.linkLost(reason)))
    }
}
