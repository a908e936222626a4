import Accessories

extension FuzzTarget {
    /// The JSON file of an accessory. It may come from anywhere.
    static let accessories = FuzzTarget("accessories", maximumLength: 8_192, seeds: accessorySeeds) { input in
        var input = input
        guard let accessory = try? Accessory(json: input.rest()) else { return }
        let again = try? Accessory(json: accessory.json)
        hold(again == accessory, "an accessory that is written is read as another one")
    }

    private static var accessorySeeds: [[UInt8]] {
        ReadyMadeAccessory.allCases.map { Array($0.accessory.json.utf8) }
    }
}
