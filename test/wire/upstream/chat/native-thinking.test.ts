// The thinking of a chat answer that is kept in its upstream's own form.

import { describe, expect, test } from 'bun:test';
import type { ThinkingBlock } from '../../../../src/core/generation.ts';
import { type ChatProfile, DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import { chatDialect } from '../../../../src/wire/upstream/chat/dialect.ts';
import { SIGNED_THINKING_LENGTH_MAX } from '../../../../src/wire/upstream/limits.ts';
import { decodeReads } from '../support.ts';

const details = { reasoningField: 'details' } as const;

/** What a stream of these deltas keeps. */
function kept(
  profile: Partial<ChatProfile>,
  deltas: readonly object[],
): readonly ThinkingBlock[] | undefined {
  const chunks = [...deltas, { content: 'A' }].map((delta) => ({ choices: [{ index: 0, delta }] }));
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  const lines = [...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  const bytes = new TextEncoder().encode(`${lines.join('')}data: [DONE]\n\n`);
  const whole = { ...DEFAULT_PROFILE.chat, ...profile };
  const { events, failure } = decodeReads([bytes], undefined, whole);
  expect(failure).toBeUndefined();
  const finish = events.at(-1);
  return finish?.kind === 'finish' ? finish.thinking : expect.unreachable();
}

const entry = (more: object): object => ({ reasoning_details: [more] });
const jsonOf = (blocks: readonly ThinkingBlock[] | undefined) =>
  blocks?.map((block) => (block.kind === 'native' ? JSON.parse(block.json) : block));

describe('entries of reasoning_details', () => {
  test('that arrive in pieces are one each', () => {
    const type = 'reasoning.text';
    const blocks = kept(details, [
      entry({ type, index: 0, text: 'h', id: 'a', signature: null }),
      entry({ type, index: 0, text: 'm', signature: null }),
      entry({ type, index: 0, signature: 's', format: 'anthropic-claude-v1' }),
      entry({ type, index: 1, text: 'x' }),
      entry({ type: 'reasoning.encrypted', index: 1, data: 'd' }),
      entry({ type: 'reasoning.encrypted', index: 1, data: 'e', id: 'b' }),
      entry({ type: 'reasoning.encrypted', index: 1, data: 'f', id: 'c' }),
    ]);
    expect(jsonOf(blocks)).toEqual([
      { type, index: 0, text: 'hm', id: 'a', signature: 's', format: 'anthropic-claude-v1' },
      { type, index: 1, text: 'x' },
      { type: 'reasoning.encrypted', index: 1, data: 'de', id: 'b' },
      { type: 'reasoning.encrypted', index: 1, data: 'f', id: 'c' },
    ]);
  });

  test('are read beside the text of the same delta, and shown as thinking', () => {
    const delta = { ...entry({ type: 'reasoning.text', index: 0, text: 'hm' }), content: 'B' };
    expect(jsonOf(kept(details, [delta]))).toEqual([
      { type: 'reasoning.text', index: 0, text: 'hm' },
    ]);
  });

  test('are not kept for a server that does not take them back', () => {
    expect(kept({}, [entry({ type: 'reasoning.text', text: 'hm' })])).toBeUndefined();
  });

  test('of a wrong shape, and more than is kept, are nothing', () => {
    expect(kept(details, [{ reasoning_details: ['x', 1, null] }])).toBeUndefined();
    const long = entry({ type: 'reasoning.text', index: 0, text: 'x'.repeat(100_000) });
    const count = Math.ceil(SIGNED_THINKING_LENGTH_MAX / 100_000);
    expect(
      kept(
        details,
        Array.from({ length: count }, () => long),
      ),
    ).toBeUndefined();
  });

  test('of a whole answer are kept as they are', () => {
    const dialect = chatDialect({ ...DEFAULT_PROFILE.chat, ...details });
    const entries = [{ type: 'reasoning.encrypted', data: 'd', id: 'a', index: 0 }];
    const message = { role: 'assistant', content: 'A', reasoning_details: entries };
    const answer = dialect.response(
      JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    );
    expect(answer).toMatchObject({
      thinking: [{ kind: 'native', json: JSON.stringify(entries[0]) }],
    });
  });
});

describe('signatures of calls', () => {
  const call = (index: number, signature?: string) => ({
    tool_calls: [
      {
        index,
        id: `c${index}`,
        type: 'function',
        function: { name: 'f', arguments: '{}' },
        ...(signature === undefined
          ? {}
          : { extra_content: { google: { thought_signature: signature } } }),
      },
    ],
  });
  const mark = (signature: string): ThinkingBlock => ({
    kind: 'call',
    signature: JSON.stringify({ google: { thought_signature: signature } }),
  });

  test('are kept with the call that carries them', () => {
    expect(kept({}, [call(0, 'a'), call(1)])).toEqual([mark('a')]);
    expect(kept({}, [call(0), call(1, 'b')])).toEqual([{ kind: 'call' }, mark('b')]);
    expect(kept({}, [call(0), call(1)])).toBeUndefined();
  });

  test('are kept with a call whose arguments follow', () => {
    const [signed] = call(1, 'b').tool_calls;
    const begun = { tool_calls: [{ ...signed, function: { name: 'f', arguments: '' } }] };
    const more = { tool_calls: [{ index: 1, function: { arguments: '{}' } }] };
    expect(kept({}, [call(0), begun, more])).toEqual([{ kind: 'call' }, mark('b')]);
  });
});
