using System;

public class Cart {
    public async Task<int> Add(Item item, int count) {
        if (count <= 0) {
            throw new ArgumentException("no 1");
        }
        total += item.Price * count;
        await Save(total);
        return total;
    }
}
