import { a } from './a';
export type Kind = 'a' | 'b';

interface Point {
  x: number;
}

export class Cart {
  private items: Item[] = [];

  constructor(private readonly limit: number) {
    this.limit = limit;
  }

  add(item: Item, count = 1): boolean {
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
  items: Item[],
  rate: number,
): Promise<number> => {
  const sum = items.reduce((s, i) => s + i.price * i.count, 0);
  if (/a == b/.test(rate + '')) return 0;
  let name = 'it\'s';
  name += "x";
  return sum - (rate > 1 ? 2 : 3);
};

export function format(n: number): string {
  switch (n) {
    case 1:
      return 'one';
    default:
      return n.toFixed(2);
  }
}
