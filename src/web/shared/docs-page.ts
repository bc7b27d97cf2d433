// The script of the documentation: copies code, and shows examples in the language that the reader chose,
// on this page and the next ones. Runs before the body is drawn, so that nothing moves.

import { readStored, store } from '../ui/stored.ts';

const LANGUAGE = 'docs-language';
const COPIED_MS = 2_000;

function choose(language: string): void {
  document.documentElement.dataset['language'] = language;
  for (const button of document.querySelectorAll<HTMLElement>('[data-choose]')) {
    button.setAttribute('aria-pressed', String(button.dataset['choose'] === language));
  }
}

async function copy(button: HTMLElement, copied: string): Promise<void> {
  const before = button.textContent;
  const text = button.nextElementSibling?.textContent ?? '';
  button.textContent = await navigator.clipboard.writeText(text).then(
    () => copied,
    () => 'Press Ctrl+C',
  );
  setTimeout(() => {
    button.textContent = before === button.textContent ? 'Copy' : before;
  }, COPIED_MS);
}

const chosen = (): string => readStored(LANGUAGE) ?? 'sh';

choose(chosen());
document.addEventListener('DOMContentLoaded', () => choose(chosen()));
document.addEventListener('click', ({ target }) => {
  if (!(target instanceof HTMLElement)) return;
  const { choose: language, copied } = target.dataset;
  if (copied !== undefined) void copy(target, copied);
  if (language === undefined) return;
  const top = target.getBoundingClientRect().top;
  store(LANGUAGE, language);
  choose(language);
  // Examples above have changed their heights; the one that was clicked stays where it is.
  scrollBy(0, target.getBoundingClientRect().top - top);
});
