// A select with type-ahead for hundreds of options: the editable combobox of the WAI-ARIA Authoring
// Practices. Lists the first matches only, so a thousand options cost nothing.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { matchesOf } from './combobox-matches.ts';
import { Field, type SelectOption } from './field.tsx';

const SHOWN_MAX = 50;

/** `value` is one of the options' values; the empty value is the choice of none or any. */
export function ComboboxField({
  label,
  hint,
  error,
  value,
  options,
  onChange,
  onType,
}: {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly value: string;
  readonly options: readonly SelectOption[];
  readonly onChange: (value: string) => void;
  /** Called with what is typed, where that decides the options. */
  readonly onType?: ((text: string) => void) | undefined;
}) {
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  /** What is typed while the list is open. */
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [active, setActive] = useState(0);
  const isOpen = typed !== undefined;
  const chosen = options.find((option) => option.value === value);
  const matches = matchesOf(options, typed ?? '');
  const shown = matches.slice(0, SHOWN_MAX);
  const at = Math.min(active, shown.length - 1);

  useEffect(() => {
    // Absent while the list is closed.
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at, isOpen]);

  const close = (): void => setTyped(undefined);
  const open = (text: string): void => {
    setTyped(text);
    onType?.(text);
    const current = text === '' ? options.findIndex((option) => option.value === value) : 0;
    setActive(Math.max(0, current < SHOWN_MAX ? current : 0));
  };
  const choose = (option: SelectOption | undefined): void => {
    if (option === undefined) return;
    close();
    if (option.value !== value) onChange(option.value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'Escape' && isOpen) {
      // The dialog around the field stays open.
      event.stopPropagation();
      event.preventDefault();
      close();
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault();
      choose(shown[at]);
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (!isOpen) {
        open('');
        return;
      }
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setActive((at + step + shown.length) % Math.max(1, shown.length));
    }
  };

  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => (
        <div class="combobox">
          <input
            {...described}
            type="text"
            class="input"
            autocomplete="off"
            spellcheck={false}
            role="combobox"
            aria-autocomplete="list"
            aria-expanded={isOpen}
            aria-controls={isOpen ? listId : undefined}
            aria-activedescendant={isOpen && at >= 0 ? `${listId}-${at}` : undefined}
            value={typed ?? chosen?.label ?? value}
            placeholder={chosen?.label}
            onClick={() => !isOpen && open('')}
            onInput={(event) => open(event.currentTarget.value)}
            onKeyDown={onKeyDown}
            onBlur={close}
          />
          {isOpen && (
            <div class="combobox-list">
              <div ref={list} id={listId} role="listbox" aria-label={t('Matches')}>
                {shown.map((option, index) => (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys.
                  // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus.
                  <div
                    key={option.value}
                    id={`${listId}-${index}`}
                    role="option"
                    aria-selected={option.value === value}
                    class={index === at ? 'active' : undefined}
                    title={option.label}
                    // Keeps the focus in the input.
                    onMouseDown={(event) => event.preventDefault()}
                    onClick={() => choose(option)}
                  >
                    {option.label}
                  </div>
                ))}
              </div>
              {matches.length !== 0 && matches.length <= SHOWN_MAX ? undefined : (
                <p class="soft small" role="status">
                  {matches.length === 0
                    ? t('No matches')
                    : t('{count} more. Type to narrow the list.', {
                        count: String(matches.length - SHOWN_MAX),
                      })}
                </p>
              )}
            </div>
          )}
        </div>
      )}
    </Field>
  );
}
