/// The bounds of the gateway, beside `Store.maximumRecords`.
enum Limits {
    /// The maximum number of sensors that are connected or being connected.
    static let sensors = 20
    /// The maximum number of records of one sensor that wait to be stored. The link of a sensor that exceeds it is
    /// closed, and the sensor sends them again.
    static let unstored = 1_000
    /// The maximum number of messages that the broker has not acknowledged.
    static let inFlight = 200
    /// The longest time to connect to a sensor and to discover its services.
    static let connecting = Duration.seconds(10)
    /// The longest time without a record; then another gateway may have the sensor.
    static let silence = Duration.seconds(10)
    /// The length of a scan.
    static let scanning = Duration.seconds(4)
    /// The pause after a scan.
    static let scanPause = Duration.seconds(2)
    /// The pause before a sensor is connected to again.
    static let pause = Duration.milliseconds(500)
    /// The pause before a connection to the broker, in microseconds.
    static let brokerPause: UInt32 = 500_000
    /// The number of seconds without traffic after which the broker is asked whether it is there.
    static let keepAlive: Int32 = 5
}
