// Reads an event stream as a client does: every event with its name, its data and its arrival time.
// Deliberately independent of the gateway's own parser.

import { holdEvent } from './description.ts';

export type SseEvent = {
  /** The `event:` line; empty where there was none, as in the chat format. */
  readonly event: string;
  readonly data: string;
  /** The data as JSON; `undefined` for `[DONE]`. */
  readonly json: Record<string, unknown> | undefined;
  readonly atMs: number;
};

/** Yields the events of a response as they arrive. Comments are left out. */
export async function* readEvents(response: Response): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  let buffered = '';
  for await (const bytes of response.body ?? []) {
    buffered += decoder.decode(bytes, { stream: true });
    const frames = buffered.split('\n\n');
    buffered = frames.pop() ?? '';
    for (const frame of frames) {
      const event = parseFrame(frame, Date.now());
      if (event === undefined) continue;
      holdEvent(response, event);
      yield event;
    }
  }
  if (buffered.trim() !== '') throw new Error(`the stream ended inside an event: ${buffered}`);
}

/** All events of a response. */
export async function collectEvents(response: Response): Promise<SseEvent[]> {
  return Array.fromAsync(readEvents(response));
}

/** The events of a recorded text. */
export function parseEvents(text: string): SseEvent[] {
  return text.split('\n\n').flatMap((frame) => parseFrame(frame, 0) ?? []);
}

function parseFrame(frame: string, atMs: number): SseEvent | undefined {
  let event = '';
  const data: string[] = [];
  for (const line of frame.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice(7);
    else if (line.startsWith('data: ')) data.push(line.slice(6));
    else if (line !== '' && !line.startsWith(':')) throw new Error(`not an SSE line: ${line}`);
  }
  if (data.length === 0) return undefined;
  const text = data.join('\n');
  return { event, data: text, json: text === '[DONE]' ? undefined : JSON.parse(text), atMs };
}
