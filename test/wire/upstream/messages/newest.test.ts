// The rules of the newest models: those that always think, refuse a forced tool or a begun answer,
// and bind thinking to its conversation.

import { describe, expect, test } from 'bun:test';
import { BUILT_IN_PROFILES } from '../../../../src/core/built-in-profiles.ts';
import type { GenerationRequest, Tool } from '../../../../src/core/generation.ts';
import type { MessagesProfile } from '../../../../src/core/profile.ts';
import { messagesDialect } from '../../../../src/wire/upstream/messages/dialect.ts';
import {
  assistant,
  calling,
  decodeReads,
  readMessagesResponse,
  result,
  signedBy,
  user,
  written,
} from './support.ts';

const F: Tool = { name: 'f', parameters: { type: 'object' } };
const G: Tool = { name: 'g', parameters: { type: 'object' } };
const required = { tools: [F, G], toolChoice: { kind: 'required' } } as const;
const named = { tools: [F, G], toolChoice: { kind: 'tool', name: 'g' } } as const;
const adaptive = { type: 'adaptive', display: 'summarized' };
const binding = { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
const bound = { ...adaptive, ...binding };
const unseen = { type: 'adaptive', ...binding };

function profileOf(name: string): MessagesProfile {
  const profile = BUILT_IN_PROFILES.get(name);
  return profile?.dialect === 'messages' ? profile : expect.unreachable();
}

/** The members of a request that are about thinking. */
function thinkingOf(name: string, request: Partial<GenerationRequest> = {}, reasons = true) {
  const { thinking, output_config } = written(request, profileOf(name), { reasons });
  return { thinking, effort: Reflect.get(Object(output_config), 'effort') };
}

describe('thinking', () => {
  type Row = readonly [profile: string, reasoning: GenerationRequest['reasoning'], written: object];
  const rows: readonly Row[] = [
    ['anthropic', undefined, {}],
    ['anthropic', 'off', { thinking: { type: 'disabled' } }],
    ['anthropic', 'on', { thinking: adaptive }],
    ['anthropic', 'max', { thinking: adaptive, effort: 'max' }],
    ['anthropic-4.6', 'off', { thinking: { type: 'disabled' } }],
    ['anthropic-4.5', 'off', { thinking: { type: 'disabled' } }],
    ['anthropic-4.5', 'low', { thinking: { type: 'enabled', budget_tokens: 3_072 } }],
    ['anthropic-fable-5', undefined, {}],
    ['anthropic-fable-5', 'off', { effort: 'low' }],
    ['anthropic-fable-5', 'on', { thinking: adaptive }],
    ['anthropic-5.5', undefined, { thinking: bound }],
    ['anthropic-5.5', 'off', { thinking: unseen, effort: 'low' }],
    ['anthropic-5.5', 'on', { thinking: bound }],
    ['anthropic-5.5', 'low', { thinking: bound, effort: 'low' }],
    ['anthropic-5.5', 'high', { thinking: bound, effort: 'high' }],
    ['anthropic-5.5', 'max', { thinking: bound, effort: 'max' }],
    ['anthropic-sonnet-5.5', undefined, { thinking: bound }],
    ['anthropic-sonnet-5.5', 'off', { thinking: { type: 'between_tools' } }],
    ['anthropic-sonnet-5.5', 'high', { thinking: bound, effort: 'high' }],
    ['anthropic-haiku-5.5', undefined, { thinking: bound }],
    ['anthropic-haiku-5.5', 'off', { thinking: { type: 'disabled' } }],
    ['deepseek-messages', 'off', { thinking: { type: 'disabled' } }],
    ['minimax-messages', 'off', {}],
  ];
  test.each(rows)('%s, asked for %p', (name, reasoning, members) => {
    const asked = reasoning === undefined ? {} : { reasoning };
    expect(thinkingOf(name, asked)).toEqual({ thinking: undefined, effort: undefined, ...members });
  });

  test('is not mentioned to a model that cannot reason', () => {
    const nothing = { thinking: undefined, effort: undefined };
    for (const reasoning of ['off', 'max'] as const) {
      expect(thinkingOf('anthropic-5.5', { reasoning }, false)).toEqual(nothing);
    }
  });

  test('of a profile whose words are changed has those', () => {
    const effortWords = { off: 'minimal', low: 'minimal', high: 'medium', max: 'xhigh' };
    const profile = { ...profileOf('anthropic-5.5'), effortWords };
    const efforts = (['off', 'on', 'low', 'high', 'max'] as const).map((reasoning) =>
      Reflect.get(Object(written({ reasoning }, profile)['output_config']), 'effort'),
    );
    expect(efforts).toEqual(['minimal', undefined, 'minimal', 'medium', 'xhigh']);
  });
});

describe('the beta of bound thinking', () => {
  const betaOf = (name: string) =>
    messagesDialect(profileOf(name)).headers('key')['anthropic-beta'];

  test('stands beside each request to a model that binds it', () => {
    for (const name of ['anthropic-5.5', 'anthropic-sonnet-5.5', 'anthropic-haiku-5.5']) {
      expect(betaOf(name)).toBe('thinking-binding-controls-2026-08-01');
    }
    for (const name of ['anthropic', 'anthropic-fable-5', 'anthropic-4.6', 'messages']) {
      expect(betaOf(name)).toBeUndefined();
    }
  });
});

describe('a forced tool', () => {
  const choose = (name: string, request: Partial<GenerationRequest>) => {
    const { tool_choice, system, thinking } = written(request, profileOf(name));
    return { tool_choice, system, thinking };
  };

  test('is an instruction where the model refuses it, behind the prompt', () => {
    expect(choose('anthropic-5.5', { ...named, system: 'Be brief.', reasoning: 'on' })).toEqual({
      tool_choice: { type: 'auto' },
      system: 'Be brief.\n\nAnswer with a call of the tool "g", and with nothing before it.',
      thinking: bound,
    });
    expect(choose('anthropic-sonnet-5.5', { ...required, reasoning: 'off' })).toEqual({
      tool_choice: { type: 'auto' },
      system: 'Answer with a call of one of these tools, and with nothing before it: "f", "g".',
      thinking: { type: 'between_tools' },
    });
  });

  test('still allows one call at a time only', () => {
    const { tool_choice } = choose('anthropic-5.5', { ...named, parallelToolCalls: false });
    expect(tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
  });

  test('is sent to Fable 5, which thinks all the same', () => {
    expect(choose('anthropic-fable-5', { ...named, reasoning: 'on' })).toEqual({
      tool_choice: { type: 'tool', name: 'g' },
      system: undefined,
      thinking: adaptive,
    });
  });

  test('turns thinking off for Haiku 5.5', () => {
    expect(choose('anthropic-haiku-5.5', { ...named, reasoning: 'on' })).toEqual({
      tool_choice: { type: 'tool', name: 'g' },
      system: undefined,
      thinking: { type: 'disabled' },
    });
  });

  test('without tools, or any other choice, is no instruction', () => {
    for (const kind of ['auto', 'none'] as const) {
      const { system, tool_choice } = choose('anthropic-5.5', { tools: [F], toolChoice: { kind } });
      expect({ system, tool_choice }).toEqual({ system: undefined, tool_choice: { type: kind } });
    }
    expect(choose('anthropic-5.5', { toolChoice: { kind: 'required' } }).system).toBeUndefined();
  });
});

describe('an answer that the client has begun', () => {
  const bridge = {
    role: 'user',
    content: [
      {
        type: 'text',
        text: 'Continue your last message exactly where it ends. Repeat none of it, and add no introduction.',
      },
    ],
  };
  const text = (of: string) => [{ type: 'text', text: of }];

  test('is continued by a user turn since Claude 4.6', () => {
    const turns = [user('Hi'), assistant('{"a": ')];
    for (const name of ['anthropic', 'anthropic-5.5', 'anthropic-4.6', 'minimax-messages']) {
      expect(written({ turns }, profileOf(name))['messages']).toMatchObject([
        { role: 'user', content: text('Hi') },
        { role: 'assistant', content: text('{"a": ') },
        bridge,
      ]);
    }
  });

  test('stands last for earlier models', () => {
    const turns = [user('Hi'), assistant('{"a": ')];
    expect(written({ turns }, profileOf('anthropic-4.5'))['messages']).toHaveLength(2);
  });

  test('is not one that a user turn or a result follows', () => {
    const plain = [user('Hi'), assistant('A'), user('B')];
    const loop = [user('Hi'), calling(['a']), result('a', '1')];
    for (const turns of [plain, loop]) {
      const { messages } = written({ turns, tools: [F] }, profileOf('anthropic-5.5'));
      expect(JSON.stringify(messages)).not.toContain('Continue your last message');
    }
  });
});

describe('earlier thinking', () => {
  const turns = (upstream: string, model?: string) => [
    user('Hi'),
    calling(['a'], {
      signed: { ...signedBy(upstream), ...(model === undefined ? {} : { model }) },
    }),
    result('a', '1'),
  ];
  const sent = (upstream: string, model?: string) => {
    const request = { turns: turns(upstream, model), tools: [F], reasoning: 'on' } as const;
    return JSON.stringify(written(request, profileOf('anthropic-5.5'))['messages']).includes(
      'signed',
    );
  };

  test('goes back to the upstream and the model that have signed it, and to no other', () => {
    expect(sent('here', 'upstream-model')).toBe(true);
    expect(sent('here')).toBe(true);
    expect(sent('here', 'other-model')).toBe(false);
    expect(sent('there', 'upstream-model')).toBe(false);
  });
});

describe('thinking that the upstream has dropped', () => {
  const usage = { input_tokens: 3, output_tokens: 2 };
  const dropped = [{ type: 'thinking_dropped', reason: 'prefix_binding_mismatch' }];
  const message = (more: object) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'A' }],
    stop_reason: 'end_turn',
    usage,
    ...more,
  });

  test('is counted beside the usage of a whole answer', () => {
    const read = (more: object) => readMessagesResponse(JSON.stringify(message(more)));
    expect(read({ input_transformations: [...dropped, ...dropped] })).toMatchObject({
      rawUsage: '{"input_tokens":3,"dropped_thinking_blocks":2,"output_tokens":2}',
      usage: { inputTokens: 3, outputTokens: 2, basis: 'reported' },
    });
    expect(read({})).toMatchObject({ rawUsage: '{"input_tokens":3,"output_tokens":2}' });
    expect(read({ input_transformations: 'x' })).toMatchObject({
      rawUsage: '{"input_tokens":3,"output_tokens":2}',
    });
  });

  test('is counted in a stream', () => {
    const start = message({ content: [], stop_reason: null, input_transformations: dropped });
    const events = [
      { type: 'message_start', message: start },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'A' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ];
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const { events: read, failure } = decodeReads([new TextEncoder().encode(text)]);
    expect(failure).toBeUndefined();
    expect(read.find(({ kind }) => kind === 'usage')).toMatchObject({
      raw: expect.stringContaining('"dropped_thinking_blocks":1'),
    });
  });
});
