import LinkLayer

/// The currents of a radio chip: what each state of it draws from its supply.
///
/// A profile is a JSON file (`init(json:)`), in which each number names its source. The built-in ones come from the
/// data sheets of their manufacturers: ``nrf52832``, ``nrf54l15``, ``cc2340r5``.
public struct RadioProfile: Hashable, Sendable {
    /// A level of the transmitter.
    public struct Level: Hashable, Sendable {
        /// The transmit power, in dBm.
        public var dBm: Int8
        /// The current while transmitting, in nanoamperes.
        public var nanoamperes: Int64

        /// Creates a level from its power and current.
        public init(dBm: Int8, nanoamperes: Int64) {
            (self.dBm, self.nanoamperes) = (dBm, nanoamperes)
        }
    }

    /// The start of the transmitter or the receiver.
    public struct RampUp: Hashable, Sendable {
        /// The time that it takes, in microseconds.
        public var microseconds: Int64
        /// The current meanwhile, in nanoamperes.
        public var nanoamperes: Int64

        /// Creates a ramp-up from its time and current.
        public init(microseconds: Int64, nanoamperes: Int64) {
            (self.microseconds, self.nanoamperes) = (microseconds, nanoamperes)
        }

        var charge: Charge { Charge(nanoamperes: nanoamperes, microseconds: microseconds) }
    }

    /// The name of the profile.
    public var name: String
    /// A description of the chip and its supply.
    public var summary: String?
    /// The supply voltage at which the currents apply, in millivolts.
    public var millivolts: Int
    /// The levels of the transmitter, by rising power. There is at least one.
    public var transmit: [Level]
    /// The current while listening, in nanoamperes, by modulation. `le1M` is there.
    public var receive: [RadioPHY.Modulation: Int64]
    /// The start of the transmitter.
    public var transmitRampUp: RampUp
    /// The start of the receiver.
    public var receiveRampUp: RampUp
    /// The current within events while the radio neither transmits nor listens, in nanoamperes.
    public var idle: Int64
    /// The current between events, in nanoamperes.
    public var sleep: Int64
    /// The charge of the processor for each event, besides what the radio draws.
    public var wakeUp: Charge

    /// Returns the current while transmitting, in nanoamperes.
    ///
    /// Between two levels it is interpolated. Beyond the lowest and the highest level, theirs applies.
    ///
    /// - Parameter dBm: The transmit power, in dBm.
    public func transmitCurrent(at dBm: Int8) -> Int64 {
        guard let upper = transmit.firstIndex(where: { $0.dBm >= dBm }) else { return transmit.last?.nanoamperes ?? 0 }
        let high = transmit[upper]
        guard upper > 0, high.dBm > dBm else { return high.nanoamperes }
        let low = transmit[upper - 1]
        let (step, whole) = (Int64(dBm) - Int64(low.dBm), Int64(high.dBm) - Int64(low.dBm))
        return low.nanoamperes + (high.nanoamperes - low.nanoamperes) * step / whole
    }

    /// Returns the current while listening, in nanoamperes. A modulation that the profile lacks draws that of LE 1M.
    ///
    /// - Parameter modulation: The modulation to listen for.
    public func receiveCurrent(for modulation: RadioPHY.Modulation) -> Int64 {
        receive[modulation] ?? receive[.le1M] ?? 0
    }

    /// Returns the charge of a usage, without the sleep current.
    ///
    /// Each amount is multiplied by its current or charge, and the products are added. So the charges of the parts of a
    /// usage add up to that of the usage. Ramp-ups count on top of the idle current.
    ///
    /// - Parameter usage: What the radio did.
    public func charge(of usage: RadioUsage) -> Charge {
        usage.amounts.reduce(.zero) { $0 + charge(of: $1.key, $1.value) }
    }

    private func charge(of amount: RadioUsage.Amount, _ value: Int64) -> Charge {
        switch amount {
        case .sending: .zero
        case .sendingAt(let dBm): Charge(nanoamperes: transmitCurrent(at: dBm), microseconds: value)
        case .listening(let modulation): Charge(nanoamperes: receiveCurrent(for: modulation), microseconds: value)
        case .transmissions: Charge(femtocoulombs: transmitRampUp.charge.femtocoulombs * Int128(value))
        case .listens: Charge(femtocoulombs: receiveRampUp.charge.femtocoulombs * Int128(value))
        case .idle: Charge(nanoamperes: idle, microseconds: value)
        case .events: Charge(femtocoulombs: wakeUp.femtocoulombs * Int128(value))
        }
    }

    /// Returns the charge of the sleep current in a time.
    ///
    /// It counts for all of the time, since it is a thousandth of the other currents.
    ///
    /// - Parameter time: The time.
    public func sleepCharge(for time: Duration) -> Charge {
        let parts = time.components
        return Charge(nanoamperes: sleep, microseconds: parts.seconds * 1_000_000)
            + Charge(nanoamperes: sleep, microseconds: parts.attoseconds / 1_000_000_000_000)
    }

    /// Returns the profile at another supply voltage.
    ///
    /// The currents change with the inverse of the voltage, as those of a chip with a DC/DC converter do nearly.
    ///
    /// - Parameter volts: The supply voltage, from 0.5 to 20 V. Others leave the profile as it is.
    public func supplied(at volts: Double) -> RadioProfile {
        guard (0.5...20).contains(volts) else { return self }
        let new = Int64((volts * 1_000).rounded())
        func scaled(_ current: Int64) -> Int64 { current * Int64(millivolts) / new }
        var profile = self
        profile.millivolts = Int(new)
        profile.transmit = transmit.map { Level(dBm: $0.dBm, nanoamperes: scaled($0.nanoamperes)) }
        profile.receive = receive.mapValues(scaled)
        profile.transmitRampUp.nanoamperes = scaled(transmitRampUp.nanoamperes)
        profile.receiveRampUp.nanoamperes = scaled(receiveRampUp.nanoamperes)
        (profile.idle, profile.sleep) = (scaled(idle), scaled(sleep))
        profile.wakeUp = Charge(femtocoulombs: wakeUp.femtocoulombs * Int128(millivolts) / Int128(new))
        return profile
    }
}
