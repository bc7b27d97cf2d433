// Reads and writes the storage of this browser. Where it is full or not allowed, choices and drafts
// last until the page is left.

export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Undefined if nothing is stored, or what is stored is not JSON. */
export function readStoredJson(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? '');
  } catch {
    return undefined;
  }
}

/** Undefined removes it. */
export function store(name: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // Full, or not allowed.
  }
}
