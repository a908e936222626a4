import EventLoops
import Foundation
import L2CAP

/// The channels of one manager: those that are open, and those that have ended while the app has still to take what came
/// before. Lives on the loop.
final class AppChannels {
    /// Takes what the app is told.
    var tell: ((ChannelID, ChannelEvent) -> Void)?

    /// How many more the app may have beside its other managers and other apps.
    var shared: () -> Int = { .max }

    private let loop: any EventLoop
    private var channels: [ChannelID: AppChannel] = [:]
    private var lastNumber: UInt32 = 0

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// How many more there may be.
    var room: Int { min(ServiceLimits.channels - channels.count, shared()) }

    /// The number of channels, including ended ones with unread octets.
    var count: Int { channels.count }

    /// The number of channels to a peer.
    func count(to peer: UUID) -> Int { channels.values.count { $0.peer == peer } }

    /// Takes a channel over, on which nothing has been received yet; nil when there is no room for it, and then it is closed.
    func add(_ channel: L2CAPCreditBasedChannel, of peer: UUID) -> ChannelID? {
        guard room > 0 else {
            channel.disconnect()
            return nil
        }
        lastNumber &+= 1
        let id = ChannelID(lastNumber)
        let new = AppChannel(channel, of: peer, loop: loop)
        new.tell = { [weak self] in self?.tell?(id, $0) }
        new.onEnd = { [weak self] in self?.channels[id] = nil }
        channels[id] = new
        return id
    }

    /// The app asks for something about a channel. One that is gone has said so, or nobody wants to know.
    func handle(_ request: ChannelRequest, of id: ChannelID) {
        channels[id]?.handle(request)
    }

    /// Closes those to a peer.
    func disconnect(from peer: UUID) {
        for id in ids where channels[id]?.peer == peer { channels[id]?.disconnect() }
    }

    /// The app may have none any more: it is told of the end of each at once, and not what came before.
    func endAll() {
        let ended = ids
        closeAll()
        for id in ended { tell?(id, .ended(nil)) }
    }

    /// The manager is gone: nobody takes anything any more.
    func closeAll() {
        for id in ids { channels[id]?.disconnect() }
        channels = [:]
    }

    private var ids: [ChannelID] { channels.keys.sorted { $0.rawValue < $1.rawValue } }
}
