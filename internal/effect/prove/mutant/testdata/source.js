import { a } from './a';

interface Point {
  x;
}

export class Cart {

    this.limit = limit;
  }

  add(item, count = 1) {
    // if (a === b) {
    if (count <= 0 || this.items.length >= this.limit) {
      throw new RangeError(`no ${count}`);
    }
    this.items.push({ ...item, count });
    console.warn('added', count);
    return true;
  }
}

export const total = async (
  items,
  rate,
) => {
  const sum = items.reduce((s, i) => s + i.price * i.count, 0);
  if (/a == b/.test(rate + '')) return 0;
  let name = 'it\'s';
  name += "x";
  return sum - (rate > 1 ? 2 : 3);
};

export function format(n) {
  switch (n) {
    case 1:
      return 'one';
    default:
      return n.toFixed(2);
  }
}
