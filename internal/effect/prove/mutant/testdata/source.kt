package shop

fun add(a: Int, b: Int): Int {
    if (a > 0 && b != 1) {
        total += a
    }
    notify("x")
    return a * b
}

fun find(name: String): Item? {
    val found = items[name]
    return found
}
