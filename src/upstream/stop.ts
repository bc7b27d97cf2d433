// Stops a call to an upstream: a lightweight AbortController. Each attempt has one, and almost none
// is ever stopped.

export type StopListener = (() => void) | { readonly handleEvent: () => void };

/** The part of a signal that a call uses; an `AbortSignal` fits. */
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
