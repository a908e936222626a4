import BluetoothTypes
import ServiceMessages
import Testing

@testable import BluetoothService

@Suite struct ChannelRelayTests {
    @Test(
        "closing a channel with unread data lets the peer continue, so that the app's pending data still goes out"
    )
    func closingWhatWasNotRead() {
        var relay = ChannelRelay()
        #expect(relay.handle(.received([1])) == [.pause(true)])
        #expect(relay.handle(.sent([2, 3])) == [])
        #expect(relay.handle(.closed) == [.startTimer, .pause(false)])
        #expect(relay.handle(.received([4])) == [])
        #expect(relay.nextSDU(limit: 100) == [2, 3])
        #expect(relay.handle(.drained) == [.disconnect])
        #expect(relay.handle(.gone(nil)) == [.endTimer, .forget])
        #expect(relay.phase == .over)
    }
}
