// The grammar of every stream that leaves the gateway: the rules of both formats over all recorded
// answers. A recording that breaks one is a defect, even an accepted one.

import { describe, expect, test } from 'bun:test';
import { recordings } from '../support/golden.ts';
import { parseEvents, type SseEvent } from '../support/sse.ts';
import { readSections } from './sections.ts';

type Json = Readonly<Record<string, unknown>>;
type Answer = { readonly title: string; readonly text: string; readonly events: SseEvent[] };

/** The bodies of all recorded streams of a format. */
function streams(section: 'chat answer' | 'Messages answer'): Answer[] {
  return recordings('cases', 'txt').flatMap((recording) => {
    const answer = readSections(recording).get(section) ?? '';
    const [head = '', ...rest] = answer.split('\n\n');
    if (!head.includes('content-type: text/event-stream')) return [];
    const text = rest.join('\n\n');
    return [{ title: recording.title, text, events: parseEvents(text) }];
  });
}

const chat = streams('chat answer');
const messages = streams('Messages answer');

function each(answers: readonly Answer[], check: (answer: Answer) => void): void {
  for (const answer of answers) {
    try {
      check(answer);
    } catch (error) {
      throw new Error(`in "${answer.title}"`, { cause: error });
    }
  }
}

const jsons = ({ events }: Answer): Json[] =>
  events.flatMap(({ json }) => (json === undefined ? [] : [json]));
const failed = (answer: Answer): boolean => jsons(answer).some((json) => 'error' in json);

describe('a chat stream', () => {
  const chunks = (answer: Answer) => jsons(answer).filter((json) => !('error' in json));
  const choice = (json: Json) => (json['choices'] as readonly Json[])[0];
  const delta = (json: Json) => (choice(json)?.['delta'] ?? {}) as Json;

  test('there are some', () => expect(chat.length).toBeGreaterThan(50));

  test('case 58: the role is in the first chunk and in no other', () => {
    each(chat, (answer) => {
      const roles = chunks(answer).map((json) => delta(json)['role']);
      expect(roles).toEqual(['assistant', ...roles.slice(1).map(() => undefined)]);
    });
  });

  test('case 59: id, created and model are the same in all chunks', () => {
    each(chat, (answer) => {
      const envelopes = chunks(answer).map(({ id, created, model }) => ({ id, created, model }));
      expect(new Set(envelopes.map((envelope) => JSON.stringify(envelope))).size).toBe(1);
    });
  });

  test('case 60: data lines alone, no error key and no early usage key', () => {
    each(chat, (answer) => {
      for (const line of answer.text.split('\n')) expect(line).toMatch(/^(data: .*)?$/s);
      const all = jsons(answer);
      all.forEach((json, index) => {
        if ('error' in json) expect(json['error']).toBeObject();
        if ('usage' in json) expect(index).toBe(all.length - 1);
      });
    });
  });

  test('case 61: one finish reason, in a chunk of its own', () => {
    each(chat, (answer) => {
      const finished = chunks(answer).filter((json) => {
        const reason = choice(json)?.['finish_reason'];
        return reason !== undefined && reason !== null;
      });
      expect(finished.map(delta)).toEqual(failed(answer) ? [] : [{}]);
    });
  });

  test('case 62: one usage with the bill, as the last event before [DONE]', () => {
    each(
      chat.filter((answer) => !failed(answer) && !answer.text.includes('completion.billing')),
      (answer) => {
        const last = jsons(answer).at(-1);
        expect(last).toMatchObject({ choices: [], usage: expect.anything() });
        expect(last).toHaveProperty('svc_tokens_debited');
        expect(jsons(answer).filter((json) => 'usage' in json)).toHaveLength(1);
      },
    );
  });

  test('case 66: [DONE] and an empty line are the end', () => {
    each(chat, (answer) => {
      expect(answer.text).toEndWith('\n\ndata: [DONE]\n\n');
      expect(answer.text.split('[DONE]')).toHaveLength(2);
    });
  });

  test('case 67: thinking is never sent as null, nor on a chunk of text', () => {
    each(chat, (answer) => {
      for (const json of chunks(answer)) {
        if (!('reasoning_content' in delta(json))) continue;
        expect(Object.keys(delta(json))).toEqual(['reasoning_content']);
        expect(delta(json)['reasoning_content']).toEqual(expect.stringMatching(/./s));
      }
    });
  });

  test('case 68: calls are numbered from 0, and id, type and name come once', () => {
    each(chat, (answer) => {
      const pieces = chunks(answer).flatMap((json) => (delta(json)['tool_calls'] as Json[]) ?? []);
      const starts = pieces.filter((piece) => 'id' in piece);
      expect(starts.map((piece) => piece['index'])).toEqual(starts.map((_, index) => index));
      expect(new Set(starts.map((piece) => piece['id'])).size).toBe(starts.length);
      for (const piece of pieces) {
        const named = 'name' in (piece['function'] as Json);
        expect([named, 'type' in piece]).toEqual(['id' in piece, 'id' in piece]);
      }
    });
  });

  test('case 95: nothing but the bill follows the finish reason', () => {
    each(chat, (answer) => {
      const all = jsons(answer);
      const finish = all.findIndex((json) => {
        return 'choices' in json && typeof choice(json)?.['finish_reason'] === 'string';
      });
      if (finish !== -1) expect(all.length).toBe(finish + 2);
    });
  });
});

describe('a Messages stream', () => {
  const types = (answer: Answer) => jsons(answer).map((json) => String(json['type']));
  const blocks = (answer: Answer) =>
    jsons(answer).filter((json) => json['type'] === 'content_block_start');

  test('there are some', () => expect(messages.length).toBeGreaterThan(50));

  test('case 143: the order of events, and each names itself twice', () => {
    each(messages, (answer) => {
      for (const { event, json } of answer.events) expect(event).toBe(String(json?.['type']));
      const letters: Readonly<Record<string, string>> = {
        message_start: 'S',
        content_block_start: '<',
        content_block_delta: '.',
        content_block_stop: '>',
        message_delta: 'D',
        message_stop: 'E',
        error: '!',
        ping: '',
      };
      const order = types(answer)
        .map((type) => letters[type] ?? '?')
        .join('');
      expect(order).toMatch(/^S(<\.*>)*((<\.*)?!|DE)$/);
    });
  });

  test('case 146: blocks are numbered from 0, and one is open at a time', () => {
    each(messages, (answer) => {
      const numbers = blocks(answer).map((json) => json['index']);
      expect(numbers).toEqual(numbers.map((_, index) => index));
      let open = -1;
      for (const json of jsons(answer)) {
        if (json['type'] === 'content_block_start') open = Number(json['index']);
        if (String(json['type']).startsWith('content_block')) expect(json['index']).toBe(open);
      }
    });
  });

  test('case 144: thinking that opens an answer comes first, and every delta is of its block', () => {
    const kinds: Readonly<Record<string, string>> = {
      thinking_delta: 'thinking',
      signature_delta: 'thinking',
      text_delta: 'text',
      input_json_delta: 'tool_use',
    };
    each(messages, (answer) => {
      let kind = '';
      for (const json of jsons(answer)) {
        if (json['type'] === 'content_block_start') {
          const next = String((json['content_block'] as Json)['type']);
          // Two in a row would be one.
          if (next === 'thinking') expect(kind).not.toBe('thinking');
          kind = next;
        }
        if (json['type'] !== 'content_block_delta') continue;
        expect(kinds[String((json['delta'] as Json)['type'])]).toBe(kind);
      }
    });
  });

  test('case 147: one signature, which is not empty, right before thinking stops', () => {
    each(messages, (answer) => {
      const all = jsons(answer);
      const signatures = all.flatMap((json, index) => {
        const { type, signature } = (json['delta'] ?? {}) as Json;
        return type === 'signature_delta' ? [{ signature, next: all[index + 1]?.['type'] }] : [];
      });
      const thinking = blocks(answer).filter(
        (json) => (json['content_block'] as Json)['type'] === 'thinking',
      );
      const closed = !failed(answer) || blocks(answer).length > 1;
      if (closed) expect(signatures).toHaveLength(thinking.length);
      for (const each of signatures) {
        expect(each).toEqual({ signature: expect.stringMatching(/./), next: 'content_block_stop' });
      }
    });
  });

  test('case 153: the last numbers are numbers, the bill is text, no sequence is named', () => {
    const count = expect.any(Number);
    const amount = expect.stringMatching(/^\d+(\.\d+)?$/);
    each(
      messages.filter((answer) => !failed(answer)),
      (answer) => {
        const isFiltered = JSON.stringify(jsons(answer)).includes('"stop_details"');
        const refused = { type: 'refusal', category: null, explanation: null };
        expect(jsons(answer).filter((json) => json['type'] === 'message_delta')).toEqual([
          {
            type: 'message_delta',
            delta: {
              stop_reason: expect.stringMatching(/^(end_turn|max_tokens|tool_use)$/),
              stop_sequence: null,
              ...(isFiltered ? { stop_details: refused } : {}),
            },
            usage: {
              input_tokens: count,
              cache_creation_input_tokens: count,
              cache_read_input_tokens: count,
              output_tokens: count,
              svc_tokens_debited: amount,
              svc_cost_usd: amount,
              svc_balance_tokens: expect.stringMatching(/^(BALANCE|\d+(\.\d+)?)$/),
              svc_fallback_used: expect.any(Boolean),
              svc_outcome: 'completed',
            },
          },
        ]);
      },
    );
  });

  test('case 155: after an error there is nothing, and no stop', () => {
    each(messages.filter(failed), (answer) => {
      expect(types(answer).at(-1)).toBe('error');
      expect(types(answer)).not.toContain('message_stop');
      expect(types(answer)).not.toContain('message_delta');
    });
  });

  test('case 158: there is no [DONE]', () => {
    each(messages, (answer) => expect(answer.text).not.toContain('[DONE]'));
  });

  test('case 159: the first counts are zero', () => {
    each(messages, (answer) => {
      const [first] = jsons(answer);
      expect((first?.['message'] as Json | undefined)?.['usage']).toEqual({
        input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 0,
      });
    });
  });
});
