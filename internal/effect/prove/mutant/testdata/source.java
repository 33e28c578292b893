package shop;

import java.util.List;

public class Cart {
    private int total = 0;

    public Cart(int total) {
        this.total = total;
    }

    @Override
    public int add(List<Item> items, boolean free) throws Exception {
        for (int i = 0; i < items.size(); i++) {
            if (items.get(i).price > 0 && !free) {
                total += items.get(i).price;
            }
        }
        char c = '"';
        log.info("total " + total);
        if (total > 100) {
            throw new IllegalStateException("too much: 100");
        }
        return total;
    }

    public void clear() {
        total = 0;
        items.clear();
    }
}
