// Maps that hold the keys that were used last, and forget the one that was used longest ago.

/** Puts an entry behind all others; above `most` entries the first one goes. */
export function putLast<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}
