// Package cart: a < b && c == 1 in a comment.
package cart

import (
	"errors"
	"fmt"
)

const Limit = 10 // == 10

type Item struct {
	Name  string `json:"name"`
	Price int
}

func (c *Cart) Add(item Item, n int) error {
	if n <= 0 || item.Price < 0 {
		return errors.New("no such amount: 1")
	}
	if old, ok := c.items[item.Name]; ok {
		n += old
	}
	defer c.lock.Unlock()
	c.items[item.Name] = n
	c.total = c.total + n*item.Price
	slog.Info("added", "n", n)
	c.notify(item)
	return nil
}

func Discount(total int) (int, bool) {
	for i := 0; i < 3; i++ {
		total--
	}
	greeting := "total: " + fmt.Sprint(total)
	text := `raw == "x"`
	_ = text
	r := '"'
	if r != 'x' {
		return total % 7, true
	}
	return len(greeting), false
}

func New(
	name string,
	options ...func(*Cart),
) *Cart {
	c := &Cart{name: name}
	for _, o := range options {
		o(c)
	}
	return c
}
