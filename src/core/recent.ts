// Helper for LRU maps, which evict the key that was used longest ago.

/** Moves an entry to the end; above `most` entries, removes the first one. */
export function putLast<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}
