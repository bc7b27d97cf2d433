// One of several choices: tabs of a page, segments of a view, code in several languages.

import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { CopyButton } from './button.tsx';

type Choice<Id extends string> = { readonly id: Id; readonly label: string };

/** Tabs as in the WAI-ARIA Authoring Practices: arrow keys move, one tab stop. */
export function Tabs<Id extends string>({
  label,
  tabs,
  active,
  onChange,
  children,
}: {
  readonly label: string;
  readonly tabs: readonly Choice<Id>[];
  readonly active: Id;
  readonly onChange: (id: Id) => void;
  /** The panel of the active tab. */
  readonly children: ComponentChildren;
}) {
  const base = useId();
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === active);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChange(next.id);
    document.getElementById(`${base}-${next.id}`)?.focus();
  };
  return (
    <div class="stack">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ id, label: text }) => (
          <button
            key={id}
            type="button"
            role="tab"
            class="tab"
            id={`${base}-${id}`}
            aria-selected={id === active}
            aria-controls={`${base}-panel`}
            tabIndex={id === active ? 0 : -1}
            onClick={() => onChange(id)}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${active}`}>
        {children}
      </div>
    </div>
  );
}

/** A row of buttons with one pressed: the view of a chart, a period. */
export function Segments<Id extends string>({
  label,
  choices,
  active,
  onChange,
}: {
  readonly label: string;
  readonly choices: readonly Choice<Id>[];
  readonly active: Id;
  readonly onChange: (id: Id) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset needs a visible legend.
    <div class="segments" role="group" aria-label={label}>
      {choices.map(({ id, label: text }) => (
        <button key={id} type="button" aria-pressed={id === active} onClick={() => onChange(id)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** Code with a copy button. */
export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keys. */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        <pre>{code}</pre>
      </section>
      <CopyButton text={code} label={t('Copy {label}', { label })} />
    </div>
  );
}

/** One snippet in several languages. */
export function CodeTabs({
  label,
  tabs,
}: {
  readonly label: string;
  readonly tabs: readonly (Choice<string> & { readonly code: string })[];
}) {
  const [active, setActive] = useState(tabs[0]?.id ?? '');
  const shown = tabs.find(({ id }) => id === active);
  return (
    <Tabs label={label} tabs={tabs} active={active} onChange={setActive}>
      {shown && <CodeBlock code={shown.code} label={shown.label} />}
    </Tabs>
  );
}
