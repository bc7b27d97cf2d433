// The scripted upstream with Anthropic's rules refuses what the newest models refuse, and notes it.

import { expect, test } from 'bun:test';
import { startUpstream } from '../support/upstream.ts';
import { strictBehaviours } from './scripted-anthropic.ts';

const BETA = 'thinking-binding-controls-2026-08-01';
const QUESTION = { role: 'user', content: 'Say hello.' };
const FOLLOW_UP = { role: 'user', content: 'Again.' };
const THINKING = { type: 'adaptive', display: 'summarized' };

type Answer = { readonly content: readonly { readonly thinking?: string }[] };

async function withUpstream(
  check: (
    ask: (body: object, beta?: string) => Promise<[status: number, answer: Answer]>,
    refusals: readonly string[],
  ) => Promise<void>,
): Promise<void> {
  const refusals: string[] = [];
  await using upstream = await startUpstream(strictBehaviours(['reasoning'], refusals));
  await check(async (members, beta = '') => {
    const body = { model: 'reasoning', max_tokens: 100, messages: [QUESTION], ...members };
    const answer = await fetch(`${upstream.messagesBaseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'anthropic-beta': beta },
      body: JSON.stringify(body),
    });
    return [answer.status, (await answer.json()) as Answer];
  }, refusals);
}

test.each<[rule: string, body: object, refusal: string]>([
  ['thinking that is off', { thinking: { type: 'disabled' } }, 'thinking.type.disabled'],
  ['a forced tool', { tool_choice: { type: 'any' } }, 'tool_choice forces tool use'],
  ['a begun answer', { messages: [{ role: 'assistant', content: 'I' }] }, 'prefill'],
  ['a temperature', { temperature: 1 }, '`temperature`'],
  ['the control of a beta without its header', { thinking: { block_binding: {} } }, 'Extra inputs'],
])('refuses %s', (_rule, body, refusal) =>
  withUpstream(async (ask, refusals) => {
    expect((await ask(body))[0]).toBe(400);
    expect(refusals).toEqual([expect.stringContaining(refusal)]);
  }),
);

test('binds thinking to its conversation, and notes a block that it drops', () =>
  withUpstream(async (ask, refusals) => {
    const [, { content }] = await ask({ thinking: THINKING });
    const turns = [{ role: 'assistant', content }, FOLLOW_UP];
    const next = { thinking: THINKING, messages: [QUESTION, ...turns] };
    const edited = { ...next, messages: [FOLLOW_UP, ...turns] };
    expect([(await ask(next))[0], (await ask(edited))[0]]).toEqual([200, 400]);
    expect(refusals).toEqual([expect.stringContaining('bound to a different conversation')]);

    const binding = { prefix_mismatch_behavior: 'drop_block' };
    const thinking = { ...THINKING, block_binding: binding };
    expect((await ask({ ...edited, thinking }, BETA))[0]).toBe(200);
    expect(refusals.at(-1)).toContain('prefix_binding_mismatch');
  }));

test('shows its thinking only if a summary is requested', () =>
  withUpstream(async (ask) => {
    const [, hidden] = await ask({});
    const [, shown] = await ask({ thinking: THINKING });
    expect([hidden.content[0]?.thinking, shown.content[0]?.thinking]).toEqual([
      '',
      'Let me think about it.',
    ]);
  }));
