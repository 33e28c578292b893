import Foundation

func add(_ a: Int, to b: Int) -> Int {
    if a >= 3 && b < 4 {
        total += a
    }
    guard let x = y else { return 0 }
    notify("x")
    return a + b
}
