import Foundation
import ServiceMessages
import Testing

@testable import Page

/// The fields of a prompt for the page's script, and the texts that it shows.
@Suite struct PagePromptTests {
    private func shown(_ kind: PairingQuestion.Kind, _ origin: PairingQuestion.Origin) throws -> [String: String] {
        var question = PairingQuestion(kind, peerName: "Sensor", peerAddress: "C0:FF:EE:00:00:01")
        question.origin = origin
        let octets = try JSONEncoder().encode(PagePrompt(1, .pairing(question)))
        let object = try #require(try JSONSerialization.jsonObject(with: octets) as? [String: Any])
        return object.compactMapValues { $0 as? String }
    }

    @Test("AB-S16: the page is told which apps need a pairing, and nothing if the device began")
    func theSideThatBegan() throws {
        let app = AppIdentity(name: "com.example.Heart", owner: 1_000)
        for kind in PairingQuestion.Kind.kinds {
            #expect(try shown(kind, .peer)["asking"] == nil)
            #expect(try shown(kind, .apps([]))["asking"] == "an app here asks")
            #expect(try shown(kind, .apps([app]))["asking"] == "\"com.example.Heart\" of user 1000 asks")
        }
    }

    @Test("AB-S16, AB-S17: the script has a text of its own for each kind of prompt, below the side that began")
    func textsOfTheScript() throws {
        let script = String(decoding: try #require(PageFiles.file(at: "/prompts.js")).octets, as: UTF8.self)
        #expect(script.contains("prompt.asking ? `Pair with ${who}, as ${prompt.asking}` : `${who} wants to pair`"))
        var texts: Set<Substring> = []
        for kind in PairingQuestion.Kind.kinds {
            let name = try #require(try shown(kind, .peer)["kind"])
            let text = try #require(
                script.firstRange(of: "      \(name): [origin, \"").map { script[$0.upperBound...] }
            )
            texts.insert(text.prefix { $0 != "\"" })
        }
        #expect(texts.count == PairingQuestion.Kind.kinds.count)
    }
}
