import ServiceMessages

extension [Advice] {
    /// The advice with the places in the app, which have to be in this process. Looking up one that is new takes about
    /// a second.
    package var withPlaces: [Advice] {
        let places = CallSites.places(of: Set(compactMap(\.site)))
        return map { advice in
            var advice = advice
            advice.place = advice.site.flatMap { places[$0] }
            return advice
        }
    }
}
