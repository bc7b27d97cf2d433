// How a profile expresses thinking on or off: one row a spelling.

import { describe, expect, test } from 'bun:test';
import type { Reasoning } from '../../../../src/core/generation.ts';
import type { ChatProfile } from '../../../../src/core/profile.ts';
import { bodyFor } from './request-support.ts';

describe('reasoningSwitch', () => {
  const words = { off: '', low: 'low', high: 'high', max: 'xhigh' };
  const withOff = { ...words, off: 'none' };
  const enabled = { type: 'enabled' };
  const template = (on: boolean): object => ({ enable_thinking: on });
  type Row = [
    reasoningSwitch: ChatProfile['reasoningSwitch'],
    effortWords: ChatProfile['effortWords'],
    written: Record<Reasoning, object>,
  ];
  const rows: Row[] = [
    [
      'thinking',
      words,
      {
        off: { thinking: { type: 'disabled' } },
        on: { thinking: enabled },
        low: { thinking: enabled, reasoning_effort: 'low' },
        high: { thinking: enabled, reasoning_effort: 'high' },
        max: { thinking: enabled, reasoning_effort: 'xhigh' },
      },
    ],
    [
      'effort',
      withOff,
      {
        off: { reasoning_effort: 'none' },
        on: { reasoning_effort: 'high' },
        low: { reasoning_effort: 'low' },
        high: { reasoning_effort: 'high' },
        max: { reasoning_effort: 'xhigh' },
      },
    ],
    [
      'effort',
      { off: '', low: '', high: '', max: '' },
      { off: {}, on: {}, low: {}, high: {}, max: {} },
    ],
    [
      'template',
      words,
      {
        off: { chat_template_kwargs: template(false) },
        on: { chat_template_kwargs: template(true) },
        low: { chat_template_kwargs: template(true), reasoning_effort: 'low' },
        high: { chat_template_kwargs: template(true), reasoning_effort: 'high' },
        max: { chat_template_kwargs: template(true), reasoning_effort: 'xhigh' },
      },
    ],
    [
      'object',
      words,
      {
        off: { reasoning: { enabled: false } },
        on: { reasoning: { enabled: true } },
        low: { reasoning: { effort: 'low' } },
        high: { reasoning: { effort: 'high' } },
        max: { reasoning: { effort: 'xhigh' } },
      },
    ],
    [
      'object',
      { ...withOff, low: '' },
      {
        off: { reasoning: { effort: 'none' } },
        on: { reasoning: { enabled: true } },
        low: { reasoning: { enabled: true } },
        high: { reasoning: { effort: 'high' } },
        max: { reasoning: { effort: 'xhigh' } },
      },
    ],
    ['none', withOff, { off: {}, on: {}, low: {}, high: {}, max: {} }],
  ];
  test.each(rows)('%s with %j', (reasoningSwitch, effortWords, written) => {
    const profile = { reasoningSwitch, effortWords };
    const nothing = bodyFor(profile);
    for (const reasoning of ['off', 'on', 'low', 'high', 'max'] as const) {
      const body = bodyFor(profile, { reasoning });
      expect(body).toEqual({ ...nothing, ...written[reasoning] });
      expect(bodyFor(profile, { reasoning }, { reasons: false })).toEqual(nothing);
    }
    expect(nothing).toEqual(bodyFor({}));
  });
});
