<?php
use App\Item;

class Cart {
    public function add(Item $item, int $count): int {
        if ($count <= 0) {
            throw new \InvalidArgumentException('no 1');
        }
        $this->items[] = $item; # if (x == y)
        $this->total += $item->price * $count;
        return $this->total;
    }
}
