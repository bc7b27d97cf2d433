// Stops a call to an upstream. Does what an AbortController does for a few callers of our own, at the
// cost of one object: each attempt has one, and nearly none is ever stopped.

export type StopListener = (() => void) | { readonly handleEvent: () => void };

/** What a call uses of a signal; an `AbortSignal` is one, too. */
export type StopSignal = {
  readonly aborted: boolean;
  readonly addEventListener: (type: 'abort', listener: StopListener) => void;
  readonly removeEventListener: (type: 'abort', listener: StopListener) => void;
};

export class StopSwitch implements StopSignal {
  aborted = false;
  private readonly listeners: StopListener[] = [];

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.listeners.splice(0)) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }

  addEventListener(_type: 'abort', listener: StopListener): void {
    this.listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: StopListener): void {
    const at = this.listeners.indexOf(listener);
    if (at >= 0) this.listeners.splice(at, 1);
  }
}
