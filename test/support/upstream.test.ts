// The scripted upstream, tested itself because most gateway tests depend on it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CANARY, HELLO } from './behaviours.ts';
import { type Format, requestBody } from './client.ts';
import { parseEvents } from './sse.ts';
import { startUpstream, type Upstream } from './upstream.ts';

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
});

afterAll(() => upstream.close());

function ask(
  model: string,
  more: Record<string, unknown> = {},
  format: Format = 'chat',
  signal?: AbortSignal,
): Promise<Response> {
  const url =
    format === 'chat'
      ? `${upstream.baseUrl}/chat/completions`
      : `${upstream.messagesBaseUrl}/v1/messages`;
  const body = JSON.stringify(requestBody(format, model, more));
  return fetch(url, { method: 'POST', body, redirect: 'manual', ...(signal && { signal }) });
}

async function streamed(model: string, format: Format = 'chat'): Promise<string> {
  return (await ask(model, { stream: true }, format)).text();
}

/** The text of a chat stream, joined. */
function chatText(stream: string): string {
  return parseEvents(stream)
    .map((event) => {
      const choices = event.json?.['choices'] as { delta: { content?: string } }[] | undefined;
      return choices?.[0]?.delta.content ?? '';
    })
    .join('');
}

describe('what the scripted upstream answers', () => {
  test('the same answer whole and streamed, in both dialects', async () => {
    const whole = (await (await ask('ok')).json()) as { choices: unknown; usage: unknown };
    expect(whole.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: HELLO },
        logprobs: null,
        finish_reason: 'stop',
      },
    ]);
    expect(whole.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
    expect(chatText(await streamed('ok'))).toBe(HELLO);
    const names = parseEvents(await streamed('reasoning', 'messages')).map((event) => event.event);
    expect(names).toEqual([
      'message_start',
      'content_block_start',
      ...['content_block_delta', 'content_block_delta', 'content_block_delta'],
      'content_block_stop',
      'content_block_start',
      ...['content_block_delta', 'content_block_delta', 'content_block_delta'],
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  test.each(['bytewise', 'crlf', 'one-write', 'comments', 'no-such-behaviour'])(
    '%s says the same',
    async (model) => {
      expect(chatText((await streamed(model)).replaceAll('\r\n', '\n'))).toBe(HELLO);
    },
  );

  test('names with numbers are instructions', async () => {
    const usage = (await (await ask('usage-1000-200-50')).json()) as { usage: unknown };
    expect(usage.usage).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 200 },
    });
    expect(chatText(await streamed('tokens-7'))).toBe(' a'.repeat(7));
    expect((await ask('status-529')).status).toBe(529);
    expect((await ask('retry-after-7')).headers.get('retry-after')).toBe('7');
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      statuses.push((await ask('status-503-times-2')).status);
    }
    expect(statuses).toEqual([503, 503, 200]);
  });

  test('errors carry the canary', async () => {
    expect(await (await ask('context-400')).text()).toContain(CANARY);
    expect(await streamed('error-in-stream')).toContain(CANARY);
    expect((await ask('redirect')).status).toBe(302);
  });

  test('a cut ends well-formed, a reset does not', async () => {
    expect(chatText(await streamed('cut'))).toBe(HELLO);
    expect(await streamed('cut')).not.toContain('[DONE]');
    for (const model of ['reset', 'cut-connection']) {
      const response = await ask(model, { stream: true });
      expect(response.status).toBe(200);
      await expect(response.text()).rejects.toThrow();
    }
    await expect(ask('reset-before')).rejects.toThrow();
  });

  test('it records what it was asked and notices who left', async () => {
    const abort = new AbortController();
    const response = await ask('stall', { stream: true, user: 'me' }, 'chat', abort.signal);
    expect(response.status).toBe(200);
    const before = upstream.aborted();
    abort.abort();
    await upstream.waitFor(() => upstream.aborted() === before + 1);
    expect(upstream.active()).toBe(0);
    const last = upstream.requests.at(-1);
    expect(last?.path).toBe('/v1/chat/completions');
    expect(last?.body).toEqual(requestBody('chat', 'stall', { stream: true, user: 'me' }));
  });
});
