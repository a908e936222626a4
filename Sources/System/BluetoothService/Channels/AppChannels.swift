import EventLoops
import Foundation
import L2CAP
import ServiceMessages

/// The channels of one manager: open ones, and ended ones with octets that the app has not read yet. Used on the event
/// loop.
final class AppChannels {
    var onEvent: ((ChannelID, ChannelEvent) -> Void)?

    /// How many more channels the limits shared with other managers and other apps allow.
    var shared: () -> Int = { .max }

    private let loop: any EventLoop
    private var channels: [ChannelID: AppChannel] = [:]
    private var lastNumber: UInt32 = 0

    init(loop: any EventLoop) {
        self.loop = loop
    }

    var room: Int { min(ServiceLimits.channels - channels.count, shared()) }

    /// The number of channels, including ended ones with unread octets.
    var count: Int { channels.count }

    func count(to peer: UUID) -> Int { channels.values.count { $0.peer == peer } }

    /// Adds a channel on which nothing has been received yet. If there is no room, closes it and returns nil.
    func add(_ channel: L2CAPCreditBasedChannel, of peer: UUID) -> ChannelID? {
        guard room > 0 else {
            channel.disconnect()
            return nil
        }
        lastNumber &+= 1
        let id = ChannelID(lastNumber)
        let new = AppChannel(channel, of: peer, loop: loop)
        new.onEvent = { [weak self] in self?.onEvent?(id, $0) }
        new.onEnd = { [weak self] in self?.channels[id] = nil }
        channels[id] = new
        return id
    }

    /// Handles a request of the app for a channel. Requests for channels that are gone are ignored.
    func handle(_ request: ChannelRequest, of id: ChannelID) {
        channels[id]?.handle(request)
    }

    func disconnect(from peer: UUID) {
        for id in ids where channels[id]?.peer == peer { channels[id]?.disconnect() }
    }

    /// Ends all channels because the app may not use them any more. Reports each end at once, and drops unread octets.
    func endAll() {
        let ended = ids
        closeAll()
        for id in ended { onEvent?(id, .ended(nil)) }
    }

    /// Closes all channels without further events, when the manager is gone.
    func closeAll() {
        for id in ids { channels[id]?.disconnect() }
        channels = [:]
    }

    private var ids: [ChannelID] { channels.keys.sorted { $0.rawValue < $1.rawValue } }
}
