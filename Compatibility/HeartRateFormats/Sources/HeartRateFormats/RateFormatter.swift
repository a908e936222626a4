import Foundation

@objc public protocol RateFormatting {
    @objc optional func willFormat(_ rate: Int)
    @objc func text(for rate: Int) -> String
}

@objcMembers public final class RateFormatter: NSObject, RateFormatting {
    @objc public weak var observer: RateFormatting?

    public func text(for rate: Int) -> String {
        observer?.willFormat?(rate)
        return "\(rate) bpm"
    }
}
