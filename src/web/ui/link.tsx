// A link to another page of the application, opened without loading a document.

import type { PartialAnchorHTMLAttributes } from 'preact';
import { navigate } from 'wouter-preact/use-browser-location';

type Attributes = Omit<PartialAnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'role'>;

/**
 * `href` is below the prefix of the application; `onClick` replaces following it.
 *
 * The library's own link closes over its first children, whose tree holds the one before it: a list
 * that is read again and again keeps every row that it has ever shown.
 */
export function Link({
  href,
  onClick = follow,
  ...attributes
}: Attributes & { readonly href: string }) {
  return <a {...attributes} href={`${APP_PREFIX}${href}`} onClick={onClick} />;
}

/** Other clicks are the browser's: they open a tab or a menu, or save the page. */
export function isPlainClick(event: MouseEvent): boolean {
  const { button, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented } = event;
  return button === 0 && !(ctrlKey || metaKey || altKey || shiftKey || defaultPrevented);
}

function follow(event: MouseEvent & { readonly currentTarget: HTMLAnchorElement }): void {
  if (!isPlainClick(event)) return;
  event.preventDefault();
  navigate(event.currentTarget.href);
}
