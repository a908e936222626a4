/// The standard requests of a USB device (USB 2.0 9.4).
extension DongleMachine {
    enum Request {
        static let getStatus: UInt8 = 0
        static let clearFeature: UInt8 = 1
        static let setFeature: UInt8 = 3
        static let setAddress: UInt8 = 5
        static let getDescriptor: UInt8 = 6
        static let getConfiguration: UInt8 = 8
        static let setConfiguration: UInt8 = 9
        static let getInterface: UInt8 = 10
        static let setInterface: UInt8 = 11
    }

    /// Executes a standard request.
    ///
    /// - Returns: The data of the answer, which is empty for a request without data; nil if the request is refused.
    mutating func answer(to setup: USBSetup) -> [UInt8]? {
        switch (setup.requestType, setup.request) {
        case (0x80, Request.getDescriptor):
            descriptors.descriptor(type: UInt8(setup.value >> 8), index: UInt8(setup.value & 0xFF))
        case (0x80...0x82, Request.getStatus): [0, 0]
        case (0x80, Request.getConfiguration): [isConfigured ? 1 : 0]
        case (0x00, Request.setConfiguration): configure(setup.value)
        case (0x81, Request.getInterface): setting(of: setup.index).map { [$0] }
        case (0x01, Request.setInterface): select(setup.value, of: setup.index)
        // Endpoints do not stay stalled, and there is no remote wake-up.
        case (0x00...0x02, Request.clearFeature), (0x00, Request.setFeature), (0x00, Request.setAddress): []
        default: nil
        }
    }

    private mutating func configure(_ value: UInt16) -> [UInt8]? {
        guard value <= 1 else { return nil }
        isConfigured = value == 1
        voiceSetting = 0
        begin(.legacy)
        return []
    }

    private func setting(of interface: UInt16) -> UInt8? {
        switch interface {
        case 0: mode == .serialized ? 1 : 0
        case 1: voiceSetting
        default: nil
        }
    }

    private mutating func select(_ setting: UInt16, of interface: UInt16) -> [UInt8]? {
        switch (interface, setting) {
        case (0, 0): begin(.legacy)
        case (0, 1) where descriptors.offersSerialization: begin(.serialized)
        // In Bulk Serialization Mode voice uses the bulk endpoints too (Core 6.2 Vol 4 Part B).
        case (1, 0...5) where mode == .legacy: voiceSetting = UInt8(setting)
        default: return nil
        }
        return []
    }
}

extension USBSetup {
    /// Whether the request selects a configuration, as opposed to none.
    var isConfiguring: Bool { requestType == 0 && request == DongleMachine.Request.setConfiguration && value > 0 }
}
