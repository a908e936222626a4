import Combine
import CoreBluetooth
import HeartRateFormats

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
    private let manager = CBCentralManager(delegate: nil, queue: .main)
    private let formatter = RateFormatter()
    private var observation: NSKeyValueObservation?
    private var subscription: AnyCancellable?
    private var timer: Timer?

    public func start(for interval: TimeInterval) {
        observation = manager.observe(\.isScanning, options: [.initial, .new]) { [weak self] manager, _ in
            self?.reason = manager.isScanning ? "scanning" : "not scanning"
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
