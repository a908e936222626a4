/// The symbols of the units, by the last octet of their UUID 27xx. A unit without a symbol is a plain number.
enum UnitSymbols {
    /// Returns a value with the symbol of its unit.
    static func text(_ value: String, unit: UInt16?) -> String {
        guard let unit else { return value }
        guard let symbol = symbols[unit] else {
            return AssignedNumbers.unit(unit).map { "\(value) \($0)" }
                ?? "\(value) (unit \(AssignedNumbers.digits(unit)))"
        }
        return symbol.isEmpty ? value : symbol == "%" ? "\(value)%" : "\(value) \(symbol)"
    }

    private static let symbols: [UInt16: String] = [
        0x2700: "", 0x2701: "m", 0x2702: "kg", 0x2703: "s", 0x2704: "A", 0x2705: "K", 0x2706: "mol", 0x2707: "cd",
        0x2710: "m²", 0x2711: "m³", 0x2712: "m/s", 0x2713: "m/s²", 0x2715: "kg/m³", 0x2720: "rad", 0x2722: "Hz",
        0x2723: "N", 0x2724: "Pa", 0x2725: "J", 0x2726: "W", 0x2727: "C", 0x2728: "V", 0x2729: "F", 0x272A: "Ω",
        0x272D: "T", 0x272F: "°C", 0x2730: "lm", 0x2731: "lx", 0x2741: "N·m", 0x2743: "rad/s", 0x2760: "min",
        0x2761: "h", 0x2762: "d", 0x2763: "°", 0x2767: "l", 0x2780: "bar", 0x2781: "mmHg", 0x27A2: "in", 0x27A3: "ft",
        0x27A4: "mi", 0x27A5: "psi", 0x27A6: "km/h", 0x27A7: "mph", 0x27A8: "rpm", 0x27AA: "kcal", 0x27AB: "kWh",
        0x27AC: "°F", 0x27AD: "%", 0x27AE: "‰", 0x27AF: "bpm", 0x27B0: "Ah", 0x27B1: "mg/dl", 0x27B2: "mmol/l",
        0x27B3: "years", 0x27B4: "months", 0x27B5: "per m³", 0x27B6: "W/m²", 0x27B7: "ml/kg/min", 0x27B8: "lb",
        0x27BA: "steps/min", 0x27BC: "strokes/min", 0x27BE: "lm/W", 0x27BF: "lm·h", 0x27C0: "lx·h", 0x27C1: "g/s",
        0x27C2: "l/s", 0x27C3: "dB", 0x27C4: "ppm", 0x27C5: "ppb", 0x27C7: "kVAh", 0x27C8: "VA",
    ]
}
