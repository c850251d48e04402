/** The sum of what `read` gives for each. */
export function sumOf<Item>(items: Iterable<Item>, read: (item: Item) => number): number {
  return Iterator.from(items).reduce((sum, item) => sum + read(item), 0);
}

/** The largest of them, and at least 0. */
export function mostOf<Item>(items: Iterable<Item>, read: (item: Item) => number): number {
  return Iterator.from(items).reduce((most, item) => Math.max(most, read(item)), 0);
}
