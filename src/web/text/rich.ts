// A text with nodes: `rich('See <link>keys</link>.', { link: (text) => <a>{text}</a> })`.

import type { ComponentChildren } from 'preact';
import { type RichValues, translateRich } from '../../dashboard/texts/translate.ts';
import { catalogue } from './t.ts';

export function rich(message: string, values: RichValues<ComponentChildren>): ComponentChildren {
  return translateRich<ComponentChildren>(catalogue(), message, values) as ComponentChildren;
}
