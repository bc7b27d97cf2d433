// Stops a call to an upstream. Does what an AbortController does for a few callers of our own, at the
// cost of one object: each attempt has one, and nearly none is ever stopped.

/** What a call uses of a signal; an `AbortSignal` is one, too. */
export type StopSignal = {
  readonly aborted: boolean;
  readonly addEventListener: (type: 'abort', listener: () => void) => void;
  readonly removeEventListener: (type: 'abort', listener: () => void) => void;
};

export class StopSwitch implements StopSignal {
  aborted = false;
  private listeners: readonly (() => void)[] = [];

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners = [...this.listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners = this.listeners.filter((other) => other !== listener);
  }
}
