import Combine
import CoreBluetooth
import HeartRateFormats
import ObjectiveC

@objc public protocol SensorSearchDelegate: NSObjectProtocol {
    @objc optional func searchDidStart(_ search: SensorSearch)
    @objc optional func search(
        _ search: SensorSearch,
        didShow text: String,
        for rate: Int
    )
    func searchDidEnd(_ search: SensorSearch)
}

/// Searches until a time-out or until it is told to end.
@objcMembers public final class SensorSearch: NSObject {
    public static let shouldEnd = Notification.Name("SensorSearchShouldEnd")

    public weak var delegate: SensorSearchDelegate?
    public private(set) var states: [Int] = []
    public private(set) var reason: String?
    @objc dynamic private var manager: CBCentralManager! = CBCentralManager(delegate: nil, queue: .main)
    private let formatter = RateFormatter()
    private var observation: NSKeyValueObservation?
    private var subscription: AnyCancellable?
    private var timer: Timer?

    public func start(for interval: TimeInterval) {
        observation = observe(\.manager?.isScanning, options: [.initial, .new]) { search, change in
            change.newValue?.flatMap { search.reason = $0 ? "scanning" : "not scanning" }
        }
        subscription = manager.publisher(for: \.state).sink { [weak self] in self?.states.append($0.rawValue) }
        timer = Timer.scheduledTimer(
            timeInterval: interval,
            target: self,
            selector: #selector(timeIsUp(_:)),
            userInfo: "time is up",
            repeats: false
        )
        NotificationCenter.default.addObserver(
            self,
            selector: #selector(self.wasTold),
            name: Self.shouldEnd,
            object: nil
        )
        delegate?.searchDidStart?(self)
    }

    public func show(_ rate: Int) {
        delegate?.search?(self, didShow: formatter.text(for: rate), for: rate)
    }

    public func stopListening() {
        NotificationCenter.default.removeObserver(self)
    }

    @objc private func timeIsUp(_ timer: Timer) {
        reason = timer.userInfo as? String
        delegate?.searchDidEnd(self)
    }

    @objc private func wasTold() {
        reason = "told"
        delegate?.searchDidEnd(self)
    }
}

extension CBPeripheral {
    open override var debugDescription: String { "sensor \(value(forKey: "identifier") as? UUID ?? UUID())" }
}

private var noteKey: UInt8 = 0

extension SensorSearch {
    /// A note about the search.
    public var note: String? {
        get { objc_getAssociatedObject(self, &noteKey) as? String }
        set { objc_setAssociatedObject(self, &noteKey, newValue, .OBJC_ASSOCIATION_COPY_NONATOMIC) }
    }
}
