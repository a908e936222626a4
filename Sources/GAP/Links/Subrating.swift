import HCI
import HCIHost

/// Uses fewer of a link's events while there is little to say (Core Vol 3 Part C 9.3.16): the Connection Subrate Update
/// procedure of a central, and the Connection Subrate Request procedure of a peripheral.
package final class Subrating {
    /// What is wanted, or allowed.
    package struct Parameters: Hashable, Sendable {
        /// One of so many events is used, 1 to 500.
        package var factor: ClosedRange<UInt16>
        /// Events of those that the peripheral may leave out.
        package var latency: UInt16 = 0
        /// Events behind one with data that stay in use.
        package var continuation: UInt16 = 0
        /// How long silence is borne, in units of 10 ms.
        package var timeout: UInt16

        /// One of so many events, with no other left out.
        package init(factor: ClosedRange<UInt16>, latency: UInt16 = 0, continuation: UInt16 = 0, timeout: UInt16) {
            (self.factor, self.latency, self.continuation, self.timeout) = (factor, latency, continuation, timeout)
        }
    }

    /// Called with each change of a link, whoever asked for it.
    package var onChange: ((AccessLink, LESubrateChange) -> Void)?

    private unowned let access: GenericAccess
    /// Who waits for what became of a request, by link.
    private var waiting: [ConnectionHandle: Waiting] = [:]

    private struct Waiting {
        weak var link: AccessLink?
        var completion: (Result<LESubrateChange, GAPError>) -> Void
    }

    init(_ access: GenericAccess) {
        self.access = access
        access.host.onEvent(LESubrateChange.self) { [weak self] in self?.changed($0) }
    }

    /// Says that this host knows subrated links, and what peripherals may ask for. The controller takes it only while there is
    /// no link (Core Vol 4 Part E 7.8.115), so this is done before the first.
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
        access.host.send(inOrder: commands) { completion($0.mapError { GAPError($0) }) }
    }

    /// Changes which events a link uses, as central, or asks the central to, as peripheral. One attempt at a time by link.
    /// `completion` is called once: when the change is in effect, or with why it is not.
    package func request(
        _ parameters: Parameters,
        on link: AccessLink,
        completion: @escaping (Result<LESubrateChange, GAPError>) -> Void
    ) {
        guard link.isOpen else { return completion(.failure(.linkLost(.unknownConnection))) }
        let handle = link.connection.handle
        // A request of a link that has ended meanwhile holds nobody up.
        if let old = waiting[handle], old.link?.isOpen ?? false { return completion(.failure(.busy)) }
        waiting[handle] = Waiting(link: link, completion: completion)
        access.peerFeatures.read(of: link.connection) { [weak self] result in
            switch result {
            case .failure(let error): self?.finish(handle, .failure(error))
            case .success: self?.ask(parameters, handle)
            }
        }
    }

    private func ask(_ parameters: Parameters, _ handle: ConnectionHandle) {
        access.host.send(
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
        if event.status == .success, let link = access.links.first(where: { $0.connection.handle == event.handle }) {
            link.subrated()
            onChange?(link, event)
        }
        finish(event.handle, event.status == .success ? .success(event) : .failure(.rejected(event.status)))
    }

    private func finish(_ handle: ConnectionHandle, _ result: Result<LESubrateChange, GAPError>) {
        waiting.removeValue(forKey: handle)?.completion(result)
    }

    /// A link has ended.
    func ended(_ link: AccessLink, _ reason: HCIStatus) {
        guard waiting[link.connection.handle]?.link === link else { return }
        finish(link.connection.handle, .failure(.linkLost(reason)))
    }
}
