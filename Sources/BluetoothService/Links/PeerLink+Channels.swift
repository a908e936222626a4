import BluetoothTypes
import GAP
import GATT
import L2CAP
import SMP
import Security

// MARK: - Channels

extension PeerLink {
    /// The peer as a central, for the apps that publish services.
    var centralInfo: CentralInfo { CentralInfo(identifier: peer, maximumUpdateLength: maximumCommandLength) }

    /// Opens a channel for a manager once the earlier requests of this link have completed. Fails at once if too many
    /// are waiting (AB-G05).
    func openChannel(_ psm: UInt16, for asker: Asker, in channels: AppChannels) {
        // The PSM of the attribute protocol is not for apps. To them it looks like a PSM that the peer does not
        // support.
        guard SPSM(rawValue: psm) != .enhancedAttribute else {
            return asker.answer(.channelOpened(psm: psm, .failure(ServiceError(.refused(.spsmNotSupported)))))
        }
        let isAccepted = channelOpenings.add(lookingAt: nil, for: asker) { [weak self] finish in
            let done = { finish(nil) }
            guard let self, asker.user.isLive else { return done() }
            guard hasRoomForChannel(of: asker.user.app) else {
                let reason = "an app can have at most \(ServiceLimits.channelsToPeer) L2CAP channels to one device"
                asker.answer(.channelOpened(psm: psm, .failure(ServiceError(.outOfSpace, reason: reason))))
                return done()
            }
            proceed(ChannelOpening(), .begin, on: SPSM(rawValue: psm)) { [weak self] result in
                self?.opened(psm, result, for: asker, in: channels)
                done()
            }
        }
        if !isAccepted {
            let error = ServiceError(.outOfSpace, reason: "too many L2CAP channels are being opened on this link")
            asker.answer(.channelOpened(psm: psm, .failure(error)))
        }
    }

    /// Whether the app may have another channel. The channels of a link are limited, and no app may use all of them.
    private func hasRoomForChannel(of app: AppIdentity?) -> Bool {
        guard let app else { return true }
        let count = system.sessions(of: app).reduce(0) { $0 + $1.manager.channels.count(to: peer) }
        return count < ServiceLimits.channelsToPeer
    }

    private typealias OpeningResult = Result<L2CAPCreditBasedChannel, ServiceError>

    private func proceed(
        _ opening: ChannelOpening,
        _ event: ChannelOpening.Event,
        on psm: SPSM,
        _ finish: @escaping (OpeningResult) -> Void
    ) {
        var opening = opening
        switch opening.handle(event) {
        case .open(let mode):
            open(mode, on: psm) { [weak self, opening] result in
                switch result {
                case .success(let channel): finish(.success(channel))
                case .failure(let error):
                    guard let self else { return finish(.failure(ServiceError(error))) }
                    proceed(opening, .refused(error), on: psm, finish)
                }
            }
        case .secure(let refusal):
            secured.secure(after: refusal) { [weak self, opening] outcome in
                guard let self else { return finish(.failure(ServiceError(ChannelOpenError.closed))) }
                switch outcome {
                case .secured: proceed(opening, .secured, on: psm, finish)
                case .untried: proceed(opening, .notSecured(nil), on: psm, finish)
                case .failed(let reason): proceed(opening, .notSecured(reason), on: psm, finish)
                }
            }
        case .fail(let error, let reason):
            finish(.failure(reason.map { serviceError($0, otherwise: error) } ?? error))
        }
    }

    private func open(
        _ mode: ChannelMode,
        on psm: SPSM,
        _ completion: @escaping (Result<L2CAPCreditBasedChannel, ChannelOpenError>) -> Void
    ) {
        switch mode {
        case .creditBased: link.l2cap.openChannel(on: psm, parameters: AppChannel.parameters, completion: completion)
        case .enhanced:
            link.l2cap.openEnhancedChannels(1, on: psm, parameters: AppChannel.parameters) { result in
                completion(
                    result.flatMap { opened in opened.channels.first.map { .success($0) } ?? .failure(.invalidResponse)
                    }
                )
            }
        }
    }

    /// Reports the outcome. If the manager has disconnected meanwhile, the channel is closed and nothing is reported
    /// (behaviour 3.13).
    private func opened(_ psm: UInt16, _ result: OpeningResult, for asker: Asker, in channels: AppChannels) {
        switch result {
        case .success(let channel) where !asker.user.isLive: channel.disconnect()
        case .success(let channel):
            let limits =
                "\(ServiceLimits.channels) per manager, \(ServiceLimits.sharedChannels.user) for all apps of a user"
            let full = ServiceError(.outOfSpace, reason: "too many L2CAP channels are open; the limits are \(limits)")
            let opened = channels.add(channel, of: peer)
            asker.answer(.channelOpened(psm: psm, opened.map { .success($0) } ?? .failure(full)))
        // When the link ends, only the disconnection is reported (behaviour 3.39).
        case .failure where isOver: break
        case .failure(let error): asker.answer(.channelOpened(psm: psm, .failure(error)))
        }
    }
}
