import TestBasics

extension Notes where Note: Equatable {
    func has(_ note: Note) -> Bool { all.contains(note) }
}
