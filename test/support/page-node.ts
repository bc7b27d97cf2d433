// As much of a browser's document as Preact needs to draw a page and call its handlers: no layout,
// no selectors, no focus.

export type PageEvent = {
  readonly type: string;
  readonly target: PageNode;
  currentTarget: PageNode;
  readonly preventDefault: () => void;
  readonly stopPropagation: () => void;
};

type Handler = (this: PageNode, event: PageEvent) => unknown;

/** An element, or a text, whose name is empty. */
export class PageNode {
  readonly localName: string;
  readonly nodeType: number;
  data: string;
  parentNode: PageNode | null = null;
  readonly childNodes: PageNode[] = [];
  // Set as properties, as in a browser.
  value = '';
  checked = false;
  disabled = false;
  readonly style = { setProperty: () => undefined };
  readonly #attributes = new Map<string, string>();
  readonly #handlers = new Map<string, Set<Handler>>();

  constructor(localName: string, data = '') {
    this.localName = localName;
    this.nodeType = localName === '' ? 3 : 1;
    this.data = data;
  }

  get firstChild(): PageNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): PageNode | null {
    const all = this.parentNode?.childNodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.data + this.childNodes.map(({ textContent }) => textContent).join('');
  }

  insertBefore(node: PageNode, before: PageNode | null): PageNode {
    node.remove();
    const at = before === null ? -1 : this.childNodes.indexOf(before);
    this.childNodes.splice(at < 0 ? this.childNodes.length : at, 0, node);
    node.parentNode = this;
    return node;
  }

  remove(): void {
    const all = this.parentNode?.childNodes ?? [];
    if (all.includes(this)) all.splice(all.indexOf(this), 1);
    this.parentNode = null;
  }

  setAttribute(name: string, value: unknown): void {
    this.#attributes.set(name, String(value));
  }

  removeAttribute(name: string): void {
    this.#attributes.delete(name);
  }

  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }

  addEventListener(type: string, handler: Handler): void {
    this.#handlers.set(type, (this.#handlers.get(type) ?? new Set()).add(handler));
  }

  removeEventListener(type: string, handler: Handler): void {
    this.#handlers.get(type)?.delete(handler);
  }

  /** Calls the handlers of this element and of those around it. */
  fire(type: string, more: object = {}): void {
    let isStopped = false;
    const event = {
      ...{ type, target: this, currentTarget: this as PageNode, button: 0, ...more },
      preventDefault: () => undefined,
      stopPropagation: () => {
        isStopped = true;
      },
    };
    for (let node: PageNode | null = this; node !== null && !isStopped; node = node.parentNode) {
      event.currentTarget = node;
      for (const handler of [...(node.#handlers.get(type) ?? [])]) handler.call(node, event);
    }
  }

  /** This element and those in it. */
  all(): PageNode[] {
    return [this, ...this.childNodes.flatMap((node) => node.all())];
  }

  // What pages call and tests do not look at.
  querySelector(): null {
    return null;
  }
  focus(): void {}
  showModal(): void {}
  close(): void {}
}
