import BluetoothTypes
import Foundation
import GAP
import GATT
import L2CAP
import SMP
import Security
import ServiceMessages

/// Opens L2CAP channels on one link for managers, one at a time: a failure does not identify its request
/// (behaviour 8.5).
final class ChannelOpener {
    private typealias OpeningResult = Result<L2CAPCreditBasedChannel, ServiceError>

    /// Whether outcomes are no longer reported, because the link has ended.
    var isOver: () -> Bool = { false }

    private let link: AccessLink
    private let peer: UUID
    private let peers: Peers
    private let managers: ManagerTable
    private let openings = LinkOperations()

    init(_ link: AccessLink, of peer: UUID, _ peers: Peers, _ managers: ManagerTable) {
        self.link = link
        self.peer = peer
        self.peers = peers
        self.managers = managers
    }

    func close() { openings.close() }

    /// Opens a channel for a manager after the earlier requests of this link. Fails at once if too many wait (AB-G05).
    func open(_ psm: UInt16, for asker: Asker, in channels: AppChannels) {
        // The PSM of the attribute protocol is not for apps. To them it looks like one that the peer does not support.
        guard SPSM(rawValue: psm) != .enhancedAttribute else {
            return asker.answer(.channelOpened(psm: psm, .failure(ServiceError(.refused(.spsmNotSupported)))))
        }
        let isAccepted = openings.add(lookingAt: nil, for: asker) { [weak self] finish in
            let done = { finish(nil) }
            guard let self, asker.user.isLive else { return done() }
            guard hasRoomForChannel(of: asker.user.app) else {
                let reason = "an app can have at most \(ServiceLimits.channelsToPeer) L2CAP channels to one device"
                asker.answer(.channelOpened(psm: psm, .failure(ServiceError(.outOfSpace, reason: reason))))
                return done()
            }
            proceed(ChannelOpening(), .begin, to: SPSM(rawValue: psm)) { [weak self] result in
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
        return managers.channels(of: app, to: peer) < ServiceLimits.channelsToPeer
    }

    private func proceed(
        _ opening: ChannelOpening,
        _ event: ChannelOpening.Event,
        to psm: SPSM,
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
                    proceed(opening, .refused(error), to: psm, finish)
                }
            }
        case .secure(let refusal):
            link.secureLink.secure(after: refusal) { [weak self, opening] outcome in
                guard let self else { return finish(.failure(ServiceError(ChannelOpenError.closed))) }
                switch outcome {
                case .secured: proceed(opening, .secured, to: psm, finish)
                case .untried: proceed(opening, .notSecured(nil), to: psm, finish)
                case .failed(let reason): proceed(opening, .notSecured(reason), to: psm, finish)
                }
            }
        case .fail(let error, let reason):
            finish(.failure(reason.map { ServiceError($0, otherwise: error, peers) } ?? error))
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

    /// Reports the outcome. If the manager has disconnected, only closes the channel (behaviour 3.13).
    private func opened(
        _ psm: UInt16,
        _ result: OpeningResult,
        for asker: Asker,
        in channels: AppChannels
    ) {
        switch result {
        case .success(let channel) where !asker.user.isLive: channel.disconnect()
        case .success(let channel):
            let limits =
                "\(ServiceLimits.channels) per manager, \(ServiceLimits.sharedChannels.user) for all apps of a user"
            let full = ServiceError(.outOfSpace, reason: "too many L2CAP channels are open; the limits are \(limits)")
            let opened = channels.add(channel, of: peer)
            asker.answer(.channelOpened(psm: psm, opened.map { .success($0) } ?? .failure(full)))
        // When the link ends, only the disconnection is reported (behaviour 3.39).
        case .failure where isOver(): break
        case .failure(let error): asker.answer(.channelOpened(psm: psm, .failure(error)))
        }
    }
}
