import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationRequest, Turn } from '../../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import { chatDialect } from '../../../src/wire/upstream/chat/dialect.ts';
import { messagesDialect } from '../../../src/wire/upstream/messages/dialect.ts';
import { toolIdFor } from '../../../src/wire/upstream/tool-id.ts';

const SHAPES = [
  ['word', /^[A-Za-z0-9_-]{1,64}$/],
  ['nine', /^[A-Za-z0-9]{9}$/],
] as const;

test('any id passes where any is taken', () => {
  fc.assert(
    fc.property(fc.string(), (id) => {
      expect(toolIdFor('any', id)).toBe(id);
    }),
  );
});

describe.each(SHAPES)('ids of the shape %s', (shape, pattern) => {
  test('an id that fits stays as it is', () => {
    fc.assert(
      fc.property(fc.stringMatching(pattern), (id) => {
        expect(toolIdFor(shape, id)).toBe(id);
      }),
    );
  });

  test('every other id fits afterwards, and stays then', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (id) => {
        const fitting = toolIdFor(shape, id);
        expect(fitting).toMatch(pattern);
        expect(toolIdFor(shape, fitting)).toBe(fitting);
      }),
    );
  });

  test('ids that nearly agree do not share a name', () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `functions.read_file:${index}`);
    expect(new Set(ids.map((id) => toolIdFor(shape, id))).size).toBe(ids.length);
  });
});

test('a rewritten id is the same one in every version: prompt caches outlive processes', () => {
  expect(toolIdFor('word', 'functions.f:0')).toBe('call_wRpxqOo5H4DYrl8IHIZhw0');
  expect(toolIdFor('nine', 'call_1')).toBe('OwEk5PObq');
  expect(toolIdFor('word', '')).toBe('call_hsIevdXMs8WX2IiQc7Gc70');
});

test('law: the digits of a rewritten id are those of its hash, the last one first', () => {
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const digits = (id: string, count: number): string => {
    const hash = (Bun.hash.wyhash(id, 0n) << 64n) | Bun.hash.wyhash(id, 1n);
    return Array.from({ length: count }, (_, at) => {
      return letters[Number((hash / 62n ** BigInt(at)) % 62n)];
    }).join('');
  };
  fc.assert(
    fc.property(fc.string(), (text) => {
      const id = `!${text}`;
      expect(toolIdFor('word', id)).toBe(`call_${digits(id, 22)}`);
      expect(toolIdFor('nine', id)).toBe(digits(id, 9));
    }),
    { numRuns: 1_000 },
  );
});

describe('calls without an id', () => {
  const call = { upstream: 'up', model: 'm', maxOutputTokens: 10, stream: false, reasons: false };
  const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] };
  const request = (turns: readonly Turn[]): GenerationRequest => {
    const rest = { stop: [], tools: [], json: false, stream: false, includeUsage: true };
    return { model: 'm', system: '', turns, ...rest };
  };
  const BODIES = {
    chat: '{"choices":[{"message":{"tool_calls":[{"function":{"name":"f"}}]}}]}',
    messages: '{"content":[{"type":"tool_use","name":"f","input":{}}],"stop_reason":"tool_use"}',
  } as const;

  test.each(['chat', 'messages'] as const)(
    'have another one in the next answer of a conversation, from an upstream without any id, %s',
    (name) => {
      const ids = [[user], [user, user, user]].map((turns) => {
        const dialect =
          name === 'chat'
            ? chatDialect(DEFAULT_PROFILE.chat)
            : messagesDialect(DEFAULT_PROFILE.messages);
        dialect.request(request(turns), call);
        const answer = dialect.response(BODIES[name]);
        return 'class' in answer ? undefined : answer.toolCalls[0]?.id;
      });
      expect(ids).toEqual([expect.any(String), expect.any(String)]);
      expect(ids[0]).not.toBe(ids[1]);
    },
  );

  const GIVEN = {
    chat: '{"choices":[{"message":{"tool_calls":[{"id":"call_0","function":{"name":"f"}}]}}]}',
    messages:
      '{"content":[{"type":"tool_use","id":"call_0","name":"f","input":{}}],"stop_reason":"tool_use"}',
  } as const;
  const before = (id: string): Turn[] => [
    user,
    {
      role: 'assistant',
      reasoning: '',
      text: '',
      toolCalls: [{ id, name: 'f', arguments: '{}' }],
    },
    { role: 'tool', toolCallId: id, text: 'done', isError: false },
  ];

  test.each(['chat', 'messages'] as const)(
    'or with the one of an earlier answer have an id of our own, %s',
    (name) => {
      const ids = ['call_1', 'call_0'].map((id) => {
        const dialect =
          name === 'chat'
            ? chatDialect(DEFAULT_PROFILE.chat)
            : messagesDialect(DEFAULT_PROFILE.messages);
        dialect.request(request(before(id)), call);
        const answer = dialect.response(GIVEN[name]);
        return 'class' in answer ? undefined : answer.toolCalls[0]?.id;
      });
      expect(ids).toEqual(['call_0', expect.stringMatching(/^call_[a-z0-9]{8,}$/)]);
    },
  );
});
